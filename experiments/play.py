"""A person at the terminal against any players; or a saved game, move by move.

    cardenvs play recurrring-v0 --opponents strong --num-players 4
    cardenvs play --record runs/play/recurrring-v0-20260131-201500.json

Between your own moves you are shown the lines of your view that changed. The end of the input and Ctrl-C leave the game; its
record is saved in any case.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

import cardenvs
from cardenvs.agents.human import fit
from cardenvs.agents.isolated import PlayerFault
from cardenvs.envs.aec import CardEnv
from cardenvs.errors import InvalidAction, InvalidOption
from cardenvs.experiments import parse, parse_options, tables, told_plainly
from cardenvs.experiments.evaluate import line_up
from cardenvs.experiments.matches import seated


@dataclass
class Arguments:
    """Play at the terminal. `--record FILE [--seat K]` steps through a saved game instead."""

    game: str
    """id of the game, such as recurrring-v0"""
    opponents: tuple[str, ...] = ("easy",)
    """one for all other seats, or one for each, clockwise from yours"""
    num_players: int | None = None
    """seats of the table (None: the game's usual number)"""
    seat: int = 0
    """where you sit, from 0"""
    option: tuple[str, ...] = ()
    """options of the game, as name=value"""
    seed: int | None = None
    """of the deal (None: a new one)"""
    time_limit: float = 60.0
    """seconds a decision for players of the form module:Class"""
    out: Path | None = None
    """file of the record (None: runs/play/GAME-TIME.json)"""


@dataclass
class RecordArguments:
    """Step through a saved game."""

    record: Path
    """JSON file of a game, as play saves it"""
    seat: int | None = None
    """whose view is shown (None: of whoever acts)"""


def play(arguments: Arguments) -> None:
    """Play one game and save its record."""
    game = cardenvs.find(arguments.game)
    num_players = game.default_players if arguments.num_players is None else arguments.num_players
    env = cardenvs.make(arguments.game, num_players, **parse_options(game, arguments.option))
    specs = line_up("human", arguments.opponents, num_players)
    if not 0 <= arguments.seat < num_players:
        raise InvalidOption(f"seat={arguments.seat} is not allowed: it must be from 0 to {num_players - 1}")
    specs = specs[num_players - arguments.seat :] + specs[: num_players - arguments.seat]
    out = arguments.out or Path("runs") / "play" / f"{game.id}-{datetime.now():%Y%m%d-%H%M%S}.json"
    env.reset(seed=arguments.seed)
    seated_as = ", ".join(f"player_{seat} is {spec}" for seat, spec in enumerate(specs))
    print(fit(f"{game.title}: you are player_{arguments.seat}; {seated_as}."))
    with seated(specs, arguments.time_limit) as players:
        words = np.random.SeedSequence().generate_state(num_players, np.uint64)
        try:
            for seat, player in enumerate(players):
                player.reset(game, num_players, seat, int(words[seat]))
            _play_on(env, players, env.possible_agents[arguments.seat], alone=specs.count("human") == 1)
        except (EOFError, KeyboardInterrupt):
            print("\nYou left the game.")
        except (PlayerFault, InvalidAction) as fault:
            print(fit(f"\nThe game cannot go on, {env.agent_selection} failed: {fault}"))
        finally:
            tables.write_whole(out, tables.json_text({**env.record(), "players": specs}))
            print(fit(f"The record is in {out}."))


def _play_on(env: CardEnv, players: Sequence, you: str, alone: bool) -> None:
    """Play to the end. If a person plays `alone` at the terminal, it is told what changed in its view after moves of others."""
    shown = env.text(you).splitlines()
    while not (env.terminations[you] or env.truncations[you]):
        agent = env.agent_selection
        seen = env.observe(agent)
        env.step(players[env.possible_agents.index(agent)].act(seen["observation"], seen["action_mask"], env.view(agent)))
        now = env.text(you).splitlines()
        if alone and agent != you and (changed := [line for line in now if line not in shown]):
            print(fit("\n".join(f"  | {line.strip()}" for line in changed)))
        shown = now
    print(f"\n{fit(env.text(you))}\n\n{_result(env)}")


def _result(env: CardEnv) -> str:
    """How a game that is over ended."""
    ending = "The game reached its limit" if any(env.truncations.values()) else "The game is over"
    return fit(f"{ending}. Scores: " + ", ".join(f"player_{seat} {score}" for seat, score in enumerate(env.scores())) + ".")


def step_through(arguments: RecordArguments) -> None:
    """Show a saved game move by move."""
    try:
        saved = arguments.record.read_text()
    except OSError as error:
        raise InvalidOption(f"the record {arguments.record} cannot be read: {error.strerror}") from None
    end = cardenvs.replay(saved)
    moves = end.record()["actions"]
    if arguments.seat is not None and not 0 <= arguments.seat < end.num_players:
        raise InvalidOption(f"seat={arguments.seat} is not allowed: it must be from 0 to {end.num_players - 1}")
    number = 0
    while True:
        env = cardenvs.replay(saved, number)
        print(f"\nAfter {number} of {len(moves)} moves")
        print(fit(env.text(None if arguments.seat is None else f"player_{arguments.seat}")))
        print(fit(f"Next: {env.agent_selection} {moves[number]!r}") if number < len(moves) else _result(env))
        try:
            answer = input("Enter: next; b: back; a number: go there; q: leave > ").strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return
        if answer == "q" or (not answer and number == len(moves)):
            return
        target = number + 1 if not answer else number - 1 if answer == "b" else int(answer) if answer.isdecimal() else -1
        if 0 <= target <= len(moves):
            number = target
        else:
            print(f"There is no move {answer!r}: 0 to {len(moves)}.")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    argv = sys.argv[1:] if argv is None else argv
    with told_plainly():
        if any(argument.split("=")[0] == "--record" for argument in argv):
            step_through(parse(RecordArguments, argv, positional=False))
        else:
            play(parse(Arguments, argv))


if __name__ == "__main__":
    main()
