"""Make the best policy of a training run the network that comes with its game, as the player `ppo`.

    python -m cardenvs.experiments.publish runs/ringer-v0-4p/maskable-ppo/20260101-1200-selfplay-s0

Writes to `agents/weights`: the weights as float16 with their header, a model card that says how they were made and how they
play, and the learning curve.
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from cardenvs.agents import network
from cardenvs.errors import InvalidOption
from cardenvs.experiments import evaluate, parse, tables, told_plainly
from cardenvs.experiments.train import Config


@dataclass
class Arguments:
    """Make the best policy of a run the network that comes with its game."""

    run: Path
    """the run's folder"""
    deals: int = 2000
    """duplicate deals against each kind of opponent, for the model card"""
    seed: int = 1
    """of these deals and the players"""
    out: Path = network.WEIGHTS
    """folder of the weights"""


def shrink(run: Path, path: Path) -> dict[str, Any]:
    """Write the weights of a run's best policy to `path` as float16; returns the header."""
    file = network.find_policy(run)
    header = network.read_header(file)
    arrays = {name: array.astype(np.float16) for name, array in load_file(file).items()}
    tables.write_whole(path, save(arrays, {"header": json.dumps(header)}))
    return header


def command(config: Config) -> str:
    """The command that repeats a run with these settings, without where it was kept."""
    words = ["python", "-m", "cardenvs.experiments.train", config.game]
    for field in fields(Config):
        value = getattr(config, field.name)
        if field.name not in ("game", "runs", "config", "resume") and value != field.default and value is not None:
            words += [f"--{field.name.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else [value])]
    return shlex.join(words)


def commands(run: Path, config: Config) -> list[str]:
    """The command that repeats a run; if it was resumed, those that were given, one after the other, without where it was kept."""
    given = (run / "command.txt").read_text().splitlines()
    if len(given) == 1:
        return [command(config)]
    lines = []
    for line in given:
        words = [part for word in shlex.split(line) for part in (word.split("=", 1) if word.startswith("--") else [word])]
        if "--runs" in words:
            at = words.index("--runs")
            del words[at : at + 2]
        for name, place in (("--resume", "RUN"), ("--config", "RUN/config.yaml")):
            if name in words:
                words[words.index(name) + 1] = place
        lines.append(shlex.join(words))
    return lines


def results(arguments: Arguments, game_id: str, num_players: int, path: Path) -> list[dict[str, str]]:
    """Rows of a table: drawing actions and taking the likeliest, against each kind of scripted player."""
    rows = []
    for policy, suffix in (("draws", ""), ("likeliest", "?greedy")):
        for opponent in ("random", "easy", "strong"):
            asked = evaluate.Arguments(
                game_id,
                player=f"checkpoint:{path}{suffix}",
                opponents=(opponent,),
                num_players=num_players,
                deals=arguments.deals,
                seed=arguments.seed,
            )
            row = evaluate.player_rows(evaluate.evaluate(asked))[0]
            rows.append(
                {
                    "actions": policy,
                    "against": f"{num_players - 1} x {opponent}",
                    "score above mean": tables.signed(row["score_above_mean"]),
                    "win share": tables.share(row["win_share"]),
                }
            )
    return rows


def card(title: str, config: Config, meta: dict[str, Any], header: dict[str, Any], rows: list[dict[str, str]], arguments: Arguments) -> str:
    """The model card as Markdown."""
    imitation = meta.get("imitation")
    learned = (
        f"It first learned to predict {imitation['choices']:,} choices of `{imitation['player']}` ({imitation['predicted']:.0%} in the "
        "end) and what they earn, then was trained by self-play"
        if imitation
        else "It learned by self-play"
    )
    pool = ", ".join([f"`{player}`" for player in config.pool] + ["earlier policies"] * (config.snapshots > 0))
    machine = meta["machine"]
    versions = [f"{name} {version}" for name, version in meta["versions"].items() if name in ("python", "numpy", "sb3-contrib", "torch")]
    return "\n\n".join(
        [
            f"# `ppo` of {title}",
            f"A policy of MaskablePPO for `{header['game']}`, observation layout `{header['layout']}`: hidden layers of "
            f"{', '.join(map(str, config.layers))}, {header['actions']} actions, stored as float16. {learned} with {meta['decisions']:,} "
            f"choices at {meta['num_players']} seats; at {config.pool_share:.0%} of the tables some seats were held by a pool ({pool}). "
            f"That took {meta['seconds'] / 60:.0f} minutes with {machine['torch_threads']} thread on {machine['cpu']}, "
            f"{machine['cores']} cores, imitation apart. The policy is that after {meta['best']:,} choices, which did "
            "best in its evaluations. It takes any number of seats, but has seen no other in training.",
            "```bash\n{}\n```".format("\n".join(commands(arguments.run, config))),
            f"Begun at commit {meta['commit']}, {', '.join(versions)}.",
            f"{arguments.deals:,} duplicate deals that played no part in training (seed {arguments.seed}), the game's default options, "
            "95 % intervals over deals:",
            tables.markdown(rows),
            f"![learning curve]({header['game'].rpartition('-v')[0]}.png)",
        ]
    )


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    arguments = parse(Arguments, argv)
    with told_plainly():
        config = Config.load(arguments.run / "config.yaml")
        meta = json.loads((arguments.run / "meta.json").read_text())
        if "finished" not in meta:
            raise InvalidOption(f"the run is not finished: python -m cardenvs.experiments.train --resume {arguments.run}")
        if "best" not in meta:
            raise InvalidOption("the run was never evaluated, so that no policy of it is the best: train with --evaluations")
        picture = (arguments.run / "learning_curve.png").read_bytes()
        path = arguments.out / f"{config.game.rpartition('-v')[0]}.safetensors"
        part = path.with_name(f"{path.stem}.part.safetensors")
        header = shrink(arguments.run, part)
        try:
            rows = results(arguments, config.game, meta["num_players"], part)
            text = card(network.NetworkAgent(part).game.title, config, meta, header, rows, arguments)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    tables.write_whole(path.with_suffix(".md"), text + "\n")
    tables.write_whole(path.with_suffix(".png"), picture)
    print(f"{tables.markdown(rows)}\n\nwritten to {path}")


if __name__ == "__main__":
    main()
