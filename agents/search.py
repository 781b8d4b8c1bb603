"""Players that search: flat Monte Carlo and information-set Monte Carlo tree search, one implementation for all games.

They know a game by its kernels alone, and the position by the view alone. Worlds that the view may stand for come from
`resample`; what follows is played out by `easy`, mixed with random actions so that no line is taken for certain. Both players do
what `easy` would do, unless something else proves to be better.

Sources: M. L. Ginsberg, "GIB" (2001), for playing out actions in sampled worlds; Z. Karnin, T. Koren and O. Somekh, "Almost
optimal exploration in multi-armed bandits" (2013), for sequential halving; P. I. Cowling, E. J. Powley and D. Whitehouse,
"Information set Monte Carlo tree search" (2012), for one tree over many worlds; T. Pepels, T. Cazenave, M. Winands and M. Lanctot,
"Minimizing simple and cumulative regret in Monte-Carlo tree search" (2014), for halving at the root of a tree; C. D. Rosin,
"Multi-armed bandits with episode context" (2011), for priors.
"""

import functools
import sys
import time
from typing import NamedTuple

import numpy as np

from cardenvs.core.game import POLICIES, Game, GameLoops
from cardenvs.core.jit import Floats, Grid64, States, Vector8, Vector64, Words
from cardenvs.core.loops import advance, choose_easy, choose_random, draw_world, legal_actions, make_view
from cardenvs.core.rng import below, next_word
from cardenvs.core.state import new_states
from cardenvs.errors import InvalidOption

NOISE = 10
"""Percent of the actions in playouts that are random."""
EXPLORATION = 0.3
"""Of PUCT, in units of the range of the returns seen so far."""
SURE = 1.0
"""Standard errors by which an action must be ahead of `easy`'s to be taken."""
PRIOR = 0.8
"""Of the action that `easy` would take; the others share the rest."""
MAX_DEPTH = 400
"""Actions of an iteration within the tree."""
EASY = POLICIES.index("easy")
CHUNK = 32
"""Playouts between two looks at the clock."""
BUCKETS = 1 << 14
"""Of the nodes of seats other than the searcher."""
WORLD, SIMULATED, VIEW, SCRATCH = range(4)

# Helpers: parts of the searches below.


def play_out(records, mask, noise, words, returns):
    """Play records[SIMULATED] to its end and add the rewards of all seats to `returns`."""
    state = records[SIMULATED]
    view = records[VIEW : VIEW + 1]
    while not (state.terminated or state.truncated):
        mask[:] = 0
        legal_actions(state, mask)
        if below(words, 0, 100) < noise:
            action = choose_random(mask, words)
        else:
            make_view(records, SIMULATED, state.seat, view)
            action = choose_easy(view[0], mask, words)
        play_on(state, action, returns)


def play_on(state, action, returns):
    """One decision, whose rewards are added to `returns`."""
    advance(state, action)
    for seat in range(state.num_seats):
        returns[seat] += state.rewards[seat]


def list_legal(mask, actions):
    """Write the ids of the legal actions to `actions`; returns their number."""
    number = 0
    for action in range(len(mask)):
        if mask[action]:
            actions[number] = action
            number += 1
    return number


def digest(memory, word):
    """A number that stands for the content of a record, given as whole numbers; `word` is working space of one word."""
    word[0] = 0
    for content in memory:
        word[0] = next_word(word, 0) ^ np.uint64(content)
    return next_word(word, 0)


def name_choice(records, memory, actions, number, action, seer, word, num_actions):
    """What `seer` makes of another seat's action, before it is played: the action itself, if it can tell it from all others.

    `num_actions` if another legal action looks alike to it (one number for all such), `num_actions` + 1 if nothing changes in its view.
    """
    make_view(records, SIMULATED, seer, records[VIEW : VIEW + 1])
    before = digest(memory[VIEW], word)
    after = before
    for k in range(-1, number):
        tried = action if k < 0 else actions[k]
        if k >= 0 and tried == action:
            continue
        records[SCRATCH] = records[SIMULATED]
        advance(records[SCRATCH], tried)
        make_view(records, SCRATCH, seer, records[VIEW : VIEW + 1])
        content = digest(memory[VIEW], word)
        if k < 0:
            after = content
            if after == before:
                return num_actions + 1
        elif content == after:
            return num_actions
    return action


def find_edge(tree, node, key):
    """The edge of a node with this key, or -1."""
    edge = tree[FIRST, node]
    while edge >= 0 and tree[KEY, edge] != key:
        edge = tree[NEXT, edge]
    return edge


def add_edge(tree, sums, sizes, node, key):
    """A new edge of a node, which leads nowhere yet; returns it."""
    edge = sizes[EDGES]
    sizes[EDGES] += 1
    tree[KEY, edge] = key
    tree[CHILD, edge] = -1
    tree[VISITS, edge] = 0
    tree[AVAILABLE, edge] = 0
    tree[NEXT, edge] = tree[FIRST, node]
    tree[FIRST, node] = edge
    sums[0, edge] = 0.0
    return edge


def edge_of(tree, sums, sizes, node, key):
    """The edge of a node with this key, a new one if there is none."""
    edge = find_edge(tree, node, key)
    return edge if edge >= 0 else add_edge(tree, sums, sizes, node, key)


def add_node(tree, sizes):
    """A new node without edges; returns it."""
    node = sizes[NODES]
    sizes[NODES] += 1
    tree[FIRST, node] = -1
    return node


def find_node(tree, buckets, sizes, content):
    """The node of what another seat knows, by the digest of its view; a new one if that was not met before."""
    key = np.int64(content >> np.uint64(1))
    bucket = key % len(buckets)
    node = buckets[bucket]
    while node > 0 and tree[KEY_OF_NODE, node] != key:
        node = tree[NEXT_NODE, node]
    if node == 0:
        node = add_node(tree, sizes)
        tree[KEY_OF_NODE, node] = key
        tree[NEXT_NODE, node] = buckets[bucket]
        buckets[bucket] = node
    return node


def pick_edge(tree, sums, sizes, node, actions, number, likely, scale):
    """The edge of a node, an old one or a new one, that promises most to the seat that acts there (PUCT).

    Most of the prior is `likely`'s, the other actions share the rest. What was not tried yet is taken for as good as the node.
    The bonus counts how often the action could be taken; for a new edge, how often the seat was here with one of its actions.
    """
    visits, total = 0, 0.0
    for k in range(number):
        edge = find_edge(tree, node, actions[k])
        if edge >= 0:
            tree[AVAILABLE, edge] += 1
            visits += tree[VISITS, edge]
            total += sums[0, edge]
    usual = total / visits if visits > 0 else 0.0
    chosen, action, best = -1, -1, -np.inf
    for k in range(number):
        edge = find_edge(tree, node, actions[k])
        tried = tree[VISITS, edge] if edge >= 0 else 0
        chances = tree[AVAILABLE, edge] if edge >= 0 else visits + 1
        prior = PRIOR if actions[k] == likely else (1.0 - PRIOR) / (number - 1)
        worth = sums[0, edge] / tried if tried > 0 else usual
        worth += EXPLORATION * scale * prior * np.sqrt(chances) / (1 + tried)
        if worth > best:
            chosen, action, best = edge, actions[k], worth
    if chosen < 0:
        chosen = add_edge(tree, sums, sizes, node, action)
        tree[AVAILABLE, chosen] = visits + 1
    return chosen


def choose_edges(records, memory, mask, actions, words, word, tree, sums, buckets, sizes, node, seer, scale):
    """What the seat to act in records[SIMULATED] chooses: the edge that counts it, and that which leads on from the searcher's node.

    For the searcher's own choices these are the same; no edge, -1, leads on from what it does not see.
    """
    state = records[SIMULATED]
    mask[:] = 0
    legal_actions(state, mask)
    number = list_legal(mask, actions)
    make_view(records, SIMULATED, state.seat, records[VIEW : VIEW + 1])
    likely = choose_easy(records[VIEW], mask, words)
    if state.seat == seer:
        edge = pick_edge(tree, sums, sizes, node, actions, number, likely, scale)
        return edge, edge
    known = find_node(tree, buckets, sizes, digest(memory[VIEW], word))
    edge = pick_edge(tree, sums, sizes, known, actions, number, likely, scale)
    choice = name_choice(records, memory, actions, number, tree[KEY, edge], seer, word, len(mask))
    if choice > len(mask):
        return edge, -1
    return edge, edge_of(tree, sums, sizes, node, -1 - (state.seat * (len(mask) + 1) + choice))


def begin(records, chance, luck, returns):
    """Start from the world that was drawn, with nothing earned yet and `chance` as the generator of the playout."""
    records[SIMULATED] = records[WORLD]
    luck[0] = chance
    returns[:] = 0.0


def add_world(sums, tried, earned):
    """Add what was earned in one world after each action that was tried."""
    for k in range(len(tried)):
        sums[0, tried[k]] += earned[k]
        sums[1, tried[k]] += (earned[k] - earned[0]) ** 2


FIRST, KEY_OF_NODE, NEXT_NODE, KEY, NEXT, VISITS, AVAILABLE, CHILD = range(8)
"""Rows of a tree: of nodes the first edge, the digest and the next of the same bucket; of edges key, next edge, visits, times it
could be taken, and node."""
NODES, EDGES = range(2)

# Searches. `tried` lists actions of the seat to act. `sums[0, action]` grows by what it earns after each, and `sums[1, action]` by the
# square of the difference from what it earns after the first of them in the same world and with the same chance.


def play_worlds(view: States, mask: Vector8, words: Words, worlds: int, noise: int, records: States, tried: Vector64, sums: Floats):
    """Play each action out in so many worlds that the view may stand for; `mask` is working space."""
    returns, earned = np.empty(view[0].num_seats), np.empty(len(tried))
    luck = np.empty(1, np.uint64)
    for _ in range(worlds):
        draw_world(view, words, records, WORLD)
        chance = next_word(words, 0)
        for k in range(len(tried)):
            begin(records, chance, luck, returns)
            play_on(records[SIMULATED], tried[k], returns)
            play_out(records, mask, noise, luck, returns)
            earned[k] = returns[view[0].viewer]
        add_world(sums, tried, earned)


def grow_tree(
    view: States,
    mask: Vector8,
    words: Words,
    worlds: int,
    noise: int,
    records: States,
    tried: Vector64,
    sums: Floats,
    memory: Grid64,
    tree: Grid64,
    totals: Floats,
    buckets: Vector64,
    sizes: Vector64,
    extent: Floats,
) -> int:
    """An iteration of information-set tree search from each action in so many worlds, or as many as have room; returns their number.

    Nodes of the searcher are what it has seen happen, whatever was left to chance; its edges count how often they could be
    taken. Another seat's choice leads to the next such node: all that the searcher cannot tell apart to the same one, and
    what it does not see at all nowhere. What others choose depends on what they know in the world of the iteration: nodes of
    their own, found by the digest of their view. Each seat is led by its own returns.
    `memory` is `records` as whole numbers, `mask` working space. `tree`, `totals` (sums of the returns of edges), `buckets` (the
    newest node of each, or 0), `sizes` (nodes and edges so far; node 0 is the searcher's decision) and `extent` (lowest and highest
    return so far) grow from call to call.
    """
    seer = view[0].viewer
    actions, word, luck = np.empty(len(mask), np.int64), np.empty(1, np.uint64), np.empty(1, np.uint64)
    returns, earned = np.empty(view[0].num_seats), np.empty(len(tried))
    path, seats = np.empty(MAX_DEPTH, np.int64), np.empty(MAX_DEPTH, np.int64)
    state = records[SIMULATED]
    for world in range(worlds):
        if sizes[EDGES] + 2 * MAX_DEPTH * len(tried) >= tree.shape[1]:
            return world
        draw_world(view, words, records, WORLD)
        chance = next_word(words, 0)
        for k in range(len(tried)):
            begin(records, chance, luck, returns)
            scale = max(extent[0, 1] - extent[0, 0], 1e-9)
            node, depth, growing = 0, 0, True
            while growing and depth < MAX_DEPTH and not (state.terminated or state.truncated):
                if depth == 0:
                    edge = edge_of(tree, totals, sizes, node, tried[k])
                    link = edge
                else:
                    edge, link = choose_edges(records, memory, mask, actions, words, word, tree, totals, buckets, sizes, node, seer, scale)
                growing = depth == 0 or state.seat != seer or tree[VISITS, edge] > 0
                path[depth], seats[depth] = edge, state.seat
                depth += 1
                play_on(state, tree[KEY, edge], returns)
                if link >= 0:
                    if tree[CHILD, link] < 0:
                        tree[CHILD, link] = add_node(tree, sizes)
                    node = tree[CHILD, link]
            play_out(records, mask, noise, luck, returns)
            for step in range(depth):
                tree[VISITS, path[step]] += 1
                totals[0, path[step]] += returns[seats[step]]
            extent[0, 0] = min(extent[0, 0], returns.min())
            extent[0, 1] = max(extent[0, 1], returns.max())
            earned[k] = returns[seer]
        add_world(sums, tried, earned)
    return worlds


class Budget(NamedTuple):
    """How much a player searches before each decision: playouts, or else milliseconds."""

    playouts: int
    milliseconds: float

    @classmethod
    def parse(cls, text: str) -> "Budget":
        """`500` stands for playouts, `50ms` for milliseconds; raises `InvalidOption`."""
        number = text.removesuffix("ms")
        if not (number.isascii() and number.isdigit() and int(number) > 0):
            raise InvalidOption(
                f"a budget of {text!r} is not allowed: it must be a number of playouts such as 500, or of milliseconds such as 50ms"
            )
        return cls(0, int(number)) if text.endswith("ms") else cls(int(number), 0)


class SearchAgent:
    """A player with a budget that tries its actions out, by sequential halving.

    In each round those that are left are tried in the same worlds, and the better half goes on. What `easy` would do goes on
    to the end, and is done unless the best other action is ahead of it by `SURE` standard errors.
    """

    method: str

    def __init__(self, budget: str = ""):
        """A budget as `Budget.parse` reads it; of 300 playouts if none is given."""
        self.budget = Budget.parse(budget or "300")
        self.name = f"{self.method}:{budget}" if budget else self.method

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """Start the generator at the word `seed`."""
        self._choose_one, self._loops = game.loops.choose_one, search_loops(game)
        self._words = np.array([seed], np.uint64)
        self._records = new_states(game.state, 4)
        self._mask = np.zeros(game.actions.size, np.int8)
        self._sums = np.zeros((2, game.actions.size))
        self.counts = np.zeros(game.actions.size, np.int64)
        """How often each action was tried in the last search, int64 (actions,)."""
        self.values = np.zeros(game.actions.size)
        """Its mean return, float64 (actions,); 0 where it was not tried."""

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        """The action that the search finds best; a single legal one is taken at once. See `Agent.act`."""
        legal = mask.nonzero()[0]
        if len(legal) == 1:
            return int(legal[0])
        usual = self._choose_one(view, mask, EASY, self._words)
        self._start(len(legal))
        self.counts[:] = 0
        self._sums[:] = 0
        others = legal[legal != usual]
        rounds = int(np.ceil(np.log2(len(legal))))
        start = time.perf_counter()
        for played in range(1, rounds + 1):
            tried = np.append(usual, others)
            self._play_round(view, tried, rounds, start + self.budget.milliseconds / 1000 * played / rounds)
            ranked = others[np.argsort(-self._sums[0, others], kind="stable")]
            others = ranked[: max(1, (len(tried) - 1) // 2)]
        np.divide(self._sums[0], self.counts, out=self.values, where=self.counts > 0)
        self.values[self.counts == 0] = 0
        other = others[0]
        error = np.sqrt(self._sums[1].sum() / (self.counts.sum() - self.counts[usual]) / self.counts[other])
        return int(other if self.values[other] - self.values[usual] > SURE * error else usual)

    def _start(self, number: int) -> None:
        """Forget what was found before; so many actions are to be tried."""

    def _play_round(self, view: np.ndarray, tried: np.ndarray, rounds: int, end: float) -> None:
        """Try actions for one of so many rounds of equal length: by the number of playouts, or until `time.perf_counter()` is `end`."""
        if self.budget.milliseconds:
            worlds = max(1, CHUNK // len(tried))
        else:
            worlds, end = max(1, self.budget.playouts // (rounds * len(tried))), 0.0
        while True:
            self._try(view, tried, worlds)
            self.counts[tried] += worlds
            if time.perf_counter() >= end:
                break

    def _try(self, view: np.ndarray, tried: np.ndarray, worlds: int) -> None:
        """Try actions in so many worlds, and write it to `_sums`."""
        raise NotImplementedError


class FlatMonteCarlo(SearchAgent):
    """Tries actions by playing on as `easy` does, with a little noise."""

    method = "flat-mc"

    def _try(self, view, tried, worlds):
        self._loops.play_worlds(view, self._mask, self._words, worlds, NOISE, self._records, tried, self._sums)


class TreeSearch(SearchAgent):
    """Tries actions by information-set Monte Carlo tree search."""

    method = "ismcts"

    def _start(self, number):
        capacity = 4 * MAX_DEPTH * number
        self._tree, self._totals, self._buckets = np.empty((8, capacity), np.int64), np.empty((1, capacity)), np.zeros(BUCKETS, np.int64)
        self._tree[FIRST, 0] = -1
        self._sizes, self._extent = np.array([1, 0]), np.array([[np.inf, -np.inf]])

    def _try(self, view, tried, worlds):
        while worlds > 0:
            worlds -= self._loops.grow_tree(
                view,
                self._mask,
                self._words,
                worlds,
                NOISE,
                self._records,
                tried,
                self._sums,
                self._records.view(np.int64).reshape(len(self._records), -1),
                self._tree,
                self._totals,
                self._buckets,
                self._sizes,
                self._extent,
            )
            if worlds > 0:
                self._tree, self._totals = (np.concatenate((part, np.empty_like(part)), axis=1) for part in (self._tree, self._totals))


@functools.cache
def search_loops(game: Game) -> GameLoops:
    """The searches bound to a game, compiled when first used."""
    return GameLoops(game, sys.modules[__name__])
