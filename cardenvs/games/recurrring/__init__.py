"""ReCURRRing: climbing and exchange for 3-5 players; see the README beside this file."""

from cardenvs.core.game import REWARD, Game, Option
from cardenvs.games.recurrring import cards, encoding, heuristics, rendering, rules

GAME = Game(
    name="recurrring",
    title="ReCURRRing",
    version=0,
    players=range(3, 6),
    default_players=4,
    state=encoding.STATE,
    options={"reward": REWARD, "num_games": Option(3, "games in a match; their points are added (RC-13)")},
    actions=encoding.ACTIONS,
    observation=encoding.OBSERVATION,
    cards=cards.VALUES,
    deck=cards.deck,
    deal=encoding.deal,
    legal_actions=rules.legal_actions,
    step=encoding.step,
    hide=rules.hide,
    resample=rules.resample,
    observe=encoding.observe,
    scores=rules.scores,
    choose_easy=heuristics.choose_easy,
    choose_strong=heuristics.choose_strong,
    text=rendering.text,
)
