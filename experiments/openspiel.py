"""A bridge to OpenSpiel: games of cardenvs as `pyspiel` games, for exact exploitability, CFR and whatever else it offers.

    import pyspiel

    import cardenvs.experiments.openspiel  # registers the games below

    game = pyspiel.load_game("python_cardenvs_kuhn")

Small games, in which everything can be computed: `python_cardenvs_kuhn` (Kuhn poker) and `python_cardenvs_recurrring_end` (the end
of a game of ReCURRRing). Whole games, `python_cardenvs_ringer` and so on, take the parameters `num_players`, `options` (as in
`"num_games:1 reward:score"`) and `num_deals`.

Chance comes first and is one node: it draws one of the game's *starts*, records of the table in which all later chance is laid
down. In a small game these are all deals there are, with their chances. In a whole game they are those of the seeds
0 … num_deals - 1, equally likely: what is computed there holds for these deals.

A seat's information state is all that it has seen: its views, one after another where they differ, and its own actions in between.
So it tells apart what the seat can tell apart, now or by remembering, and nothing else; that nothing has changed in a view
is no news, and how often others were asked meanwhile stays hidden. Utilities are sums of rewards, paid at the end.

Source: M. Lanctot et al., "OpenSpiel: A Framework for Reinforcement Learning in Games" (2019).
"""

import functools
import hashlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import cardenvs
from cardenvs.agents import Agent, CompiledAgent, MissingExtra
from cardenvs.agents.network import NetworkAgent, ShippedNetwork
from cardenvs.core.game import Game
from cardenvs.core.state import WIN, new_states
from cardenvs.envs.aec import CardEnv
from cardenvs.envs.common import action_number
from cardenvs.errors import IllegalAction, InvalidOption
from cardenvs.experiments import parse_options

try:
    import pyspiel
except ImportError as error:
    raise MissingExtra("OpenSpiel is not installed; the extra [openspiel] installs it: pip install 'cardenvs[openspiel]'") from error

PREFIX = "python_cardenvs_"
MAX_LENGTH = 1_000_000
"""What OpenSpiel is told about the length of games, which ours say on their pages only."""


class Starts(NamedTuple):
    """What chance chooses from."""

    game: Game
    states: np.ndarray
    """Records of the game's dtype, shape (n,)."""
    chances: np.ndarray
    """float64 (n,), they add up to 1."""
    exact: bool
    """Whether these are all there are; then the game must not draw chance after the deal."""


def all_deals(env: CardEnv, deck: Sequence[str], open_places: Sequence[int], moves: Sequence[str] = ()) -> Starts:
    """The starts after `moves` (action texts) that differ in the order of the cards at some places of the deck.

    Every order of the cards at `open_places` is equally likely, as if the moves had told nothing about them; equal tables are one
    start. Give the places of cards that no move touches: raises `IllegalAction` if the moves are not legal in all deals.
    """
    cards = [deck[place] for place in open_places]
    orders = set(itertools.permutations(cards))
    found: dict[bytes, tuple[np.ndarray, int]] = {}
    for order in sorted(orders):
        dealt = list(deck)
        for place, card in zip(open_places, order, strict=True):
            dealt[place] = card
        env.reset(seed=0, options={"deck": dealt})
        for move in moves:
            env.step(env.action_id(move))
        content = _content(env.states)
        found[content] = env.states.copy(), found.get(content, (env.states, 0))[1] + 1
    states, counts = zip(*found.values(), strict=True)
    return Starts(env.game, np.concatenate(states), np.array(counts) / len(orders), exact=True)


def seeded_deals(env: CardEnv, num_deals: int) -> Starts:
    """The starts that the seeds 0 … num_deals - 1 give, equally likely."""
    if num_deals < 1:
        raise InvalidOption(f"num_deals={num_deals} is not allowed: it must be a whole number from 1")
    states = []
    for seed in range(num_deals):
        env.reset(seed=seed)
        states.append(env.states.copy())
    return Starts(env.game, np.concatenate(states), np.full(num_deals, 1 / num_deals), exact=False)


class SpielGame(pyspiel.Game):
    """A game of cardenvs that begins with one of `starts`; `kind` describes it to OpenSpiel."""

    def __init__(self, kind: pyspiel.GameType, starts: Starts, parameters: dict[str, Any]):
        first = starts.states[0]
        limit = 1.0 if first["reward"] == WIN else np.inf  # pages do not bound scores
        info = pyspiel.GameInfo(
            num_distinct_actions=starts.game.actions.size,
            max_chance_outcomes=len(starts.states),
            num_players=int(first["num_seats"]),
            min_utility=-limit,
            max_utility=limit,
            utility_sum=0.0,
            max_game_length=MAX_LENGTH,
        )
        super().__init__(kind, info, parameters)
        self.starts = starts
        self.loops = starts.game.loops
        self.view = new_states(starts.game.state, 1)
        self.observation = np.zeros(starts.game.observation.size, np.int8)
        self.mask = np.zeros(starts.game.actions.size, np.int8)
        """Working space of the states, like the two above."""

    def new_initial_state(self) -> "SpielState":
        """The chance node."""
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: pyspiel.IIGObservationType | None = None, params: dict | None = None) -> "SpielObserver":
        """What shows states to a seat."""
        return SpielObserver(self, iig_obs_type is not None and iig_obs_type.perfect_recall)


class SpielState(pyspiel.State):
    """A table, and what each of its seats has seen. OpenSpiel copies all attributes with the state."""

    def __init__(self, game: SpielGame):
        super().__init__(game)
        self.table = new_states(game.starts.game.state, 1)
        """The record, blank before the deal."""
        self.dealt = False
        self.memories = [""] * game.num_players()
        """Of each seat, a digest of all that it has seen."""
        self.views = [b""] * game.num_players()
        """What each seat sees now."""
        self.sums = [0.0] * game.num_players()
        """Rewards so far."""

    def current_player(self) -> int:
        """The seat to act."""
        if not self.dealt:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else int(self.table["seat"][0])

    def is_terminal(self) -> bool:
        """Whether the game is over or truncated."""
        return bool(self.table["terminated"][0] or self.table["truncated"][0])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The starts and their chances."""
        return list(enumerate(self.get_game().starts.chances.tolist()))

    def _legal_actions(self, player: int) -> list[int]:
        game = self.get_game()
        game.loops.legal_one(self.table, game.mask)
        return game.mask.nonzero()[0].tolist()

    def _apply_action(self, action: int) -> None:
        game = self.get_game()
        if not self.dealt:
            self.table[0] = game.starts.states[action]
            self.dealt = True
        else:
            seat, rng = int(self.table["seat"][0]), self.table["rng"].tobytes()
            self.memories[seat] = _remember(self.memories[seat], action.to_bytes(4, "little"))
            game.loops.step_one(self.table, action, game.view, game.observation, game.mask)
            if game.starts.exact and self.table["rng"].tobytes() != rng:
                raise InvalidOption(f"{game.starts.game.id} draws chance after the deal: these are not all of its starts")
            self.sums = [total + float(paid) for total, paid in zip(self.sums, self.table["rewards"][0], strict=False)]
        for seat in range(game.num_players()):
            game.loops.view_one(self.table, seat, game.view)
            if (view := _content(game.view)) != self.views[seat]:
                self.views[seat] = view
                self.memories[seat] = _remember(self.memories[seat], view)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"start {action}" if player == pyspiel.PlayerId.CHANCE else self.get_game().starts.game.actions.texts[action]

    def returns(self) -> list[float]:
        """Sums of rewards, once the game is over."""
        return self.sums if self.is_terminal() else [0.0] * len(self.sums)

    def __str__(self) -> str:
        return self.get_game().starts.game.text(self.table.view(np.recarray)[0]) if self.dealt else "before the deal"

    def decision(self) -> "Decision":
        """What the seat to act is shown when it is asked."""
        game = self.get_game()
        seat = self.current_player()
        game.loops.observe_one(self.table, seat, game.view, game.observation, game.mask)
        return Decision(seat, game.observation.copy(), game.mask.copy(), game.view.copy())


def _content(records: np.ndarray) -> bytes:
    """Of all fields; what lies between them for alignment is not always copied with a record."""
    return b"".join([records[name].tobytes() for name in records.dtype.names or ()])


def _remember(memory: str, event: bytes) -> str:
    """A digest of what was seen before and of what is seen now."""
    return hashlib.blake2b(memory.encode() + event, digest_size=16).hexdigest()


class SpielObserver:
    """Shows a seat what it may know: as string its information state (or the table as text), as tensor the game's observation."""

    def __init__(self, game: SpielGame, perfect_recall: bool):
        self._game, self._perfect_recall = game, perfect_recall
        self.tensor = np.zeros(game.observation.size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: SpielState, player: int) -> None:
        """Write the observation of a seat to `tensor`."""
        game = self._game
        self.tensor[:] = 0
        if state.dealt:
            game.loops.observe_one(state.table, player, game.view, game.observation, game.mask)
            self.tensor[:] = game.observation

    def string_from(self, state: SpielState, player: int) -> str:
        """What tells apart all that the seat can tell apart; without perfect recall, the table as it sees it now."""
        if self._perfect_recall or not state.dealt:
            return state.memories[player]
        game = self._game
        game.loops.view_one(state.table, player, game.view)
        return game.starts.game.text(game.view.view(np.recarray)[0])


class Decision(NamedTuple):
    """What a player is asked with; see `agents.Agent.act`."""

    seat: int
    observation: np.ndarray
    mask: np.ndarray
    view: np.ndarray


Probabilities = Callable[[Decision], np.ndarray]
"""Says how likely each action is, float64 (actions,); 0 for illegal ones."""


def all_decisions(game: SpielGame) -> dict[str, Decision]:
    """The decisions of a small game, by information state."""
    found: dict[str, Decision] = {}
    ahead = [game.new_initial_state()]
    while ahead:
        state = ahead.pop()
        if not state.is_terminal():
            if not state.is_chance_node():
                found.setdefault(state.information_state_string(), state.decision())
            ahead += [state.child(action) for action in state.legal_actions()]
    return found


def tabular_policy(
    decisions: dict[str, Decision], probabilities: Probabilities, progress: Callable[[int], None] | None = None
) -> pyspiel.TabularPolicy:
    """A policy that can be given to OpenSpiel's algorithms; `progress` is told how many decisions are done."""
    table = {}
    for memory, decision in decisions.items():
        chances = probabilities(decision)
        table[memory] = [(action, float(chances[action])) for action in decision.mask.nonzero()[0].tolist()]
        if progress:
            progress(len(table))
    return pyspiel.TabularPolicy(table)


def probabilities_of(player: Agent, game: SpielGame, samples: int, seed: int = 0) -> Probabilities:
    """How one of our players decides: exactly for `random` and trained networks, else the shares of its choices in so many samples.

    A sample is a game of its own, in which the player is asked once: what it makes of earlier decisions in the same game is
    left out. Players that mix their actions look a little worse than they are, since the noise of the shares is exploitable too.
    Raises `IllegalAction` when the player chooses what it may not.
    """
    if isinstance(player, CompiledAgent) and player.name == "random":
        return _even
    if isinstance(player, NetworkAgent | ShippedNetwork):
        player.reset(game.starts.game, game.num_players(), 0, seed)
        return functools.partial(_softmax, player)
    return functools.partial(_shares, player, game, samples, np.random.default_rng(seed))


def _even(decision: Decision) -> np.ndarray:
    return decision.mask / decision.mask.sum()


def _softmax(player: NetworkAgent | ShippedNetwork, decision: Decision) -> np.ndarray:
    logits = np.where(decision.mask != 0, player.logits(decision.observation[None])[0], -np.inf)
    if player.greedy:
        return np.arange(len(logits)) == logits.argmax()
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def _shares(player: Agent, game: SpielGame, samples: int, rng: np.random.Generator, decision: Decision) -> np.ndarray:
    if decision.mask.sum() == 1:
        return _even(decision)
    counts = np.zeros(len(decision.mask))
    for word in rng.integers(2**64, size=samples, dtype=np.uint64).tolist():
        player.reset(game.starts.game, game.num_players(), decision.seat, word)
        action = action_number(player.act(decision.observation.copy(), decision.mask.copy(), decision.view.copy()))
        if not (0 <= action < len(counts) and decision.mask[action]):
            legal = ", ".join(map(str, decision.mask.nonzero()[0]))
            raise IllegalAction(f"{player.name} chose action {action} where {legal} are legal")
        counts[action] += 1
    return counts / samples


RECURRRING_DECK = "1 2 3 2 4 3 4 5 3 5 7 4 6 7 4 6 7 5 6 R 5 7 R 6 7 R 7 R R R R R R 6 R R 6 7 5"
RECURRRING_UNSEEN = 33, 36, 37, 38
RECURRRING_MOVES = """
    - Rx2 - Rx1 - - 5x1 Rx2 - - 7x1 - 6x1 5x1 4x1 - 7x1 - 5x1 - Rx1 - - Rx1 - - Rx1 - - Rx1 - - Rx1 - - Rx1 - - 7x1 4x1 2x1 - 1x1
    - 7x1 5x1 - 2x1 - 7x1 6x1 - - 6x1 - - 7x1 - - 7x1 - - 7x1 4x1 - - 7x1 5x1 - - 7x1 - 2x1 - 7x1 5x1 4x1 - - 5x1 - 3x1 - 7x1 4x1
    - 3x1 - 4x1 - - 3x1 - - 5x1 - - 5x1 6x2 7x3 - -
"""


def kuhn(parameters: dict[str, Any]) -> Starts:
    """Kuhn poker, the toy among the tests; utilities are chips."""
    cardenvs.register("kuhn-v0", "tests.toy.kuhn")
    return all_deals(cardenvs.make("kuhn-v0", reward="score"), "JQK", range(3))


def recurrring_end(parameters: dict[str, Any]) -> Starts:
    """The last rounds of a game of ReCURRRing that three `strong` players played; utilities are (points - mean) / 10.

    After 102 decisions player_1 leads. The hands have 4, 3 and 1 cards: everybody knows 5 and 7 of the first and two 6 of the
    second, and that 5, 6, 6 and 7 are somewhere in the other places. These are dealt anew: seven starts.
    """
    env = cardenvs.make("recurrring-v0", 3, num_games=1, reward="score")
    moves = ["pass" if move == "-" else f"play {move}" for move in RECURRRING_MOVES.split()]
    return all_deals(env, RECURRRING_DECK.split(), RECURRRING_UNSEEN, moves)


SMALL_GAMES = {
    "kuhn": ("Kuhn poker", range(2, 3), kuhn),
    "recurrring_end": ("The end of a game of ReCURRRing", range(3, 4), recurrring_end),
}
"""Title, numbers of players and starts, by name."""


def whole_game(game_id: str, parameters: dict[str, Any]) -> Starts:
    """Deals of a game from its beginning; the parameters are those of `WHOLE_GAMES`."""
    given = WHOLE_GAMES | parameters
    options = parse_options(cardenvs.find(game_id), given["options"].replace(":", "=").split())
    return seeded_deals(cardenvs.make(game_id, given["num_players"] or None, **options), given["num_deals"])


WHOLE_GAMES: dict[str, Any] = {"num_players": 0, "options": "", "num_deals": 100}
"""Parameters of whole games and their defaults; 0 players stand for the usual number."""


def load(name: str) -> SpielGame:
    """A small game by its name; raises `InvalidOption` with the names there are."""
    if name not in SMALL_GAMES:
        raise InvalidOption(f"no small game is called {name!r}; there are {', '.join(SMALL_GAMES)}")
    return pyspiel.load_game(PREFIX + name)


def register(name: str, title: str, players: range, parameters: dict[str, Any], starts: Callable[[dict[str, Any]], Starts]) -> None:
    """Make a game known to OpenSpiel, with the defaults of its parameters; `starts` is called with them when it is loaded."""
    kind = pyspiel.GameType(
        short_name=PREFIX + name,
        long_name=title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=players[-1],
        min_num_players=players[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
        parameter_specification=parameters,
    )

    class Registered(SpielGame):
        def __init__(self, given: dict[str, Any] | None = None):
            super().__init__(kind, starts(given or {}), given or {})

    pyspiel.register_game(kind, Registered)


for _name, (_title, _players, _starts) in SMALL_GAMES.items():
    register(_name, _title, _players, {}, _starts)
for _game in map(cardenvs.find, cardenvs.game_ids()):
    if _game.name not in SMALL_GAMES:
        register(_game.name, _game.title, _game.players, WHOLE_GAMES, functools.partial(whole_game, _game.id))
