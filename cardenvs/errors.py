"""The errors that cardenvs raises. Each names what was wrong and what is allowed; nothing is changed by the refused call."""


class CardEnvError(Exception):
    """Base class of every error that cardenvs raises on purpose."""


class UnknownGame(CardEnvError, LookupError):
    """No game of that id is registered."""


class InvalidOption(CardEnvError, ValueError):
    """A constructor option, a number of players or a reset option that the game does not have or allow."""


class InvalidDeck(InvalidOption):
    """A fixed deck that is not the game's deck."""


class InvalidSeed(CardEnvError, ValueError):
    """A seed that is not a whole number from 0."""


class InvalidAction(CardEnvError, ValueError):
    """An action that is malformed, out of range, or offered when none is due."""


class IllegalAction(InvalidAction):
    """A well-formed action that the rules do not allow now."""


class NotReset(CardEnvError, AttributeError):
    """The environment was used before its first `reset`."""


class ReplayError(CardEnvError):
    """A recorded game that cannot be read, or that this version plays differently."""
