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
from cardenvs.core.loops import advance, choose_easy, choose_random, legal_actions, make_view, resample
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
EDGES_PER_ITERATION = 16
MOST_EDGES = 1 << 17
"""Room for a tree that grows by the clock."""
WORLD, SIMULATED, VIEW, SCRATCH = range(4)

# Helpers: parts of the searches below.


def draw_world(records, view, words):
    """Make records[WORLD] a full state that `view` may stand for, with future chance of its own."""
    records[WORLD] = view[0]
    world = records[WORLD]
    resample(world, words)
    for stream in range(4):
        world.rng[stream] = next_word(words, 0)
    world.seeds[0] = next_word(words, 0)
    world.viewer = -1


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

    UNSEEN if nothing changes in its view; HIDDEN if another legal action looks alike to it (it has one number for all such).
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
    sums[:, edge] = 0.0
    return edge


def add_node(tree, sizes):
    """A new node without edges; returns it."""
    node = sizes[NODES]
    sizes[NODES] += 1
    tree[FIRST, node] = -1
    return node


def find_node(tree, table, sizes, content):
    """The node of what another seat knows, by the digest of its view; a new one if that was not met before."""
    key = np.int64(content >> np.uint64(1))
    place = key % len(table)
    while table[place] >= 0 and tree[KEY_OF_NODE, table[place]] != key:
        place = (place + 1) % len(table)
    if table[place] < 0:
        table[place] = add_node(tree, sizes)
        tree[KEY_OF_NODE, table[place]] = key
    return table[place]


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


HELPERS = (
    draw_world,
    play_on,
    play_out,
    list_legal,
    digest,
    name_choice,
    find_edge,
    add_edge,
    add_node,
    find_node,
    pick_edge,
)
FIRST, KEY_OF_NODE, KEY, NEXT, VISITS, AVAILABLE, CHILD = range(7)
"""Rows of a tree: of nodes the first edge and the digest; of edges key, next edge, visits, times it could be taken, and node."""
NODES, EDGES = range(2)

# Searches. `tried` lists actions of the seat to act. `sums[0, action]` grows by what it earns after each, and `sums[1, action]` by the
# square of the difference from what it earns after the first of them in the same world and with the same chance.


def play_worlds(view: States, mask: Vector8, words: Words, worlds: int, noise: int, records: States, tried: Vector64, sums: Floats):
    """Play each action out in so many worlds that the view may stand for; `mask` is working space."""
    returns = np.empty(view[0].num_seats)
    luck = np.empty(1, np.uint64)
    for _ in range(worlds):
        draw_world(records, view, words)
        word = next_word(words, 0)
        usual = 0.0
        for k in range(len(tried)):
            luck[0] = word
            records[SIMULATED] = records[WORLD]
            returns[:] = 0.0
            play_on(records[SIMULATED], tried[k], returns)
            play_out(records, mask, noise, luck, returns)
            earned = returns[view[0].viewer]
            if k == 0:
                usual = earned
            sums[0, tried[k]] += earned
            sums[1, tried[k]] += (earned - usual) ** 2


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
    table: Vector64,
    sizes: Vector64,
    extent: Floats,
) -> int:
    """An iteration of information-set tree search from each action in so many worlds, or as many as have room; returns their number.

    Nodes of the searcher are what it has seen happen, whatever was left to chance; its edges count how often they could be
    taken. Another seat's choice leads to the next such node: all that the searcher cannot tell apart to the same one, and
    what it does not see at all nowhere. What others choose depends on what they know in the world of the iteration: nodes of
    their own, found by the digest of their view in `table`. Each seat is led by its own returns.
    `memory` is `records` as whole numbers, `mask` working space. `tree`, `totals` (sums of the returns of edges), `table` (-1:
    free), `sizes` (nodes and edges so far; node 0 is the searcher's decision) and `extent` (lowest and highest return so far)
    grow from call to call.
    """
    seer = view[0].viewer
    num_actions = len(mask)
    actions, word, luck = np.empty(num_actions, np.int64), np.empty(1, np.uint64), np.empty(1, np.uint64)
    returns = np.empty(view[0].num_seats)
    path, seats = np.empty(MAX_DEPTH, np.int64), np.empty(MAX_DEPTH, np.int64)
    state = records[SIMULATED]
    for world in range(worlds):
        if sizes[EDGES] + 2 * MAX_DEPTH * len(tried) >= tree.shape[1]:
            return world
        draw_world(records, view, words)
        chance = next_word(words, 0)
        usual = 0.0
        for k in range(len(tried)):
            luck[0] = chance
            records[SIMULATED] = records[WORLD]
            returns[:] = 0.0
            scale = max(extent[0, 1] - extent[0, 0], 1e-9)
            node, depth, growing = 0, 0, True
            while growing and depth < MAX_DEPTH and not (state.terminated or state.truncated):
                if depth == 0:
                    edge = find_edge(tree, node, tried[k])
                    if edge < 0:
                        edge = add_edge(tree, totals, sizes, node, tried[k])
                    link = edge
                else:
                    mask[:] = 0
                    legal_actions(state, mask)
                    number = list_legal(mask, actions)
                    make_view(records, SIMULATED, state.seat, records[VIEW : VIEW + 1])
                    likely = choose_easy(records[VIEW], mask, words)
                    if state.seat == seer:
                        edge = pick_edge(tree, totals, sizes, node, actions, number, likely, scale)
                        link = edge
                        growing = tree[VISITS, edge] > 0
                    else:
                        known = find_node(tree, table, sizes, digest(memory[VIEW], word))
                        edge = pick_edge(tree, totals, sizes, known, actions, number, likely, scale)
                        choice = name_choice(records, memory, actions, number, tree[KEY, edge], seer, word, num_actions)
                        link = -1
                        if choice <= num_actions:
                            key = -1 - (state.seat * (num_actions + 1) + choice)
                            link = find_edge(tree, node, key)
                            if link < 0:
                                link = add_edge(tree, totals, sizes, node, key)
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
            if k == 0:
                usual = returns[seer]
            sums[0, tried[k]] += returns[seer]
            sums[1, tried[k]] += (returns[seer] - usual) ** 2
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
            if self.budget.milliseconds:
                worlds, end = max(1, CHUNK // len(tried)), start + self.budget.milliseconds / 1000 * played / rounds
            else:
                worlds, end = max(1, self.budget.playouts // (rounds * len(tried))), 0.0
            done = worlds
            while done == worlds:
                done = self._try(view, tried, worlds)
                self.counts[tried] += done
                if time.perf_counter() >= end:
                    break
            ranked = others[np.argsort(-self._sums[0, others], kind="stable")]
            others = ranked[: (len(tried) - 1) // 2]
        np.divide(self._sums[0], self.counts, out=self.values, where=self.counts > 0)
        self.values[self.counts == 0] = 0
        other = ranked[0]
        error = np.sqrt(self._sums[1].sum() / (self.counts.sum() - self.counts[usual]) / self.counts[other])
        return int(other if self.values[other] - self.values[usual] > SURE * error else usual)

    def _start(self, number: int) -> None:
        """Forget what was found before; so many actions are to be tried."""

    def _try(self, view: np.ndarray, tried: np.ndarray, worlds: int) -> int:
        """Try actions in so many worlds, and write it to `_sums`; returns in how many there was room to do so."""
        raise NotImplementedError


class FlatMonteCarlo(SearchAgent):
    """Tries actions by playing on as `easy` does, with a little noise."""

    method = "flat-mc"

    def _try(self, view, tried, worlds):
        self._loops.play_worlds(view, self._mask, self._words, worlds, NOISE, self._records, tried, self._sums)
        return worlds


class TreeSearch(SearchAgent):
    """Tries actions by information-set Monte Carlo tree search."""

    method = "ismcts"

    def _start(self, number):
        capacity = 2 * MAX_DEPTH * number + (EDGES_PER_ITERATION * self.budget.playouts or MOST_EDGES)
        self._tree, self._totals, self._table = np.empty((7, capacity), np.int64), np.zeros((1, capacity)), np.full(2 * capacity, -1)
        self._tree[FIRST, 0] = -1
        self._sizes, self._extent = np.array([1, 0]), np.array([[np.inf, -np.inf]])

    def _try(self, view, tried, worlds):
        return self._loops.grow_tree(
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
            self._table,
            self._sizes,
            self._extent,
        )


@functools.cache
def search_loops(game: Game) -> GameLoops:
    """The searches bound to a game, compiled when first used."""
    return GameLoops(game, sys.modules[__name__])
