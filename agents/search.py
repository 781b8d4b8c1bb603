"""Players that search: flat Monte Carlo and information-set Monte Carlo tree search, one implementation for all games.

They know a game by its kernels alone, and the position by the view alone. Worlds that the view may stand for come from
`resample`; what follows is played out by `easy`, mixed with random actions so that no line is taken for certain.

Sources: M. L. Ginsberg, "GIB" (2001), for playing out actions in sampled worlds; Z. Karnin, T. Koren and O. Somekh, "Almost
optimal exploration in multi-armed bandits" (2013), for sequential halving; P. I. Cowling, E. J. Powley and D. Whitehouse,
"Information set Monte Carlo tree search" (2012), for one tree over many worlds.
"""

import functools
import sys
import time
from typing import NamedTuple

import numpy as np

from cardenvs.core.game import Game, GameLoops
from cardenvs.core.jit import Floats, Grid64, States, Vector8, Vector64, Words
from cardenvs.core.loops import advance, choose_easy, choose_random, legal_actions, make_view, resample
from cardenvs.core.rng import below, next_word
from cardenvs.core.state import new_states
from cardenvs.errors import InvalidOption

NOISE = 10
"""Percent of the actions in playouts that are random."""
EXPLORATION = 0.7
"""Of UCB, in units of the range of the returns seen so far."""
MAX_DEPTH = 400
"""Actions of an iteration within the tree."""
CHUNK = 32
"""Iterations between two looks at the clock."""
EDGES_PER_ITERATION = 16
WORLD, SIMULATED, VIEW = range(3)

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
        records[WORLD] = records[SIMULATED]
        advance(records[WORLD], tried)
        make_view(records, WORLD, seer, records[VIEW : VIEW + 1])
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


def pick_own(tree, sums, sizes, node, actions, number, likely, scale, words):
    """An edge of the searcher by UCB over the times it could be taken; an action without an edge comes first, `likely` before others."""
    untried, pick, chosen, best = 0, -1, -1, -np.inf
    for k in range(number):
        edge = find_edge(tree, node, actions[k])
        if edge < 0:
            untried += 1
            if actions[k] == likely or (pick != likely and below(words, 0, untried) == 0):
                pick = actions[k]
            continue
        tree[AVAILABLE, edge] += 1
        worth = upper_bound(tree, sums, edge, tree[AVAILABLE, edge], scale)
        if worth > best:
            best, chosen = worth, edge
    if untried > 0:
        chosen = add_edge(tree, sums, sizes, node, pick)
        tree[AVAILABLE, chosen] = 1
    return chosen


def pick_others(tree, sums, sizes, node, actions, number, likely, noise, scale, words):
    """An edge of another seat: by UCB once it was here as often as it has actions, before that by `likely` and noise."""
    visits, tried, chosen, best = 0, 0, -1, -np.inf
    edge = tree[FIRST, node]
    while edge >= 0:
        visits += tree[VISITS, edge]
        tried += 1
        edge = tree[NEXT, edge]
    if visits < number:
        action = actions[below(words, 0, number)] if below(words, 0, 100) < noise else likely
    elif tried < number:
        action = -1
        for k in range(number):
            if find_edge(tree, node, actions[k]) < 0:
                action = actions[k]
    else:
        edge = tree[FIRST, node]
        while edge >= 0:
            worth = upper_bound(tree, sums, edge, visits, scale)
            if worth > best:
                best, chosen = worth, edge
            edge = tree[NEXT, edge]
        return chosen
    chosen = find_edge(tree, node, action)
    return add_edge(tree, sums, sizes, node, action) if chosen < 0 else chosen


def upper_bound(tree, sums, edge, chances, scale):
    """Mean return of an edge and its bonus, if it could be taken `chances` times."""
    visits = tree[VISITS, edge]
    return sums[0, edge] / visits + EXPLORATION * scale * np.sqrt(np.log(chances) / visits)


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
    upper_bound,
    pick_own,
    pick_others,
)
FIRST, KEY_OF_NODE, KEY, NEXT, VISITS, AVAILABLE, CHILD = range(7)
"""Rows of a tree: of nodes the first edge and the digest; of edges key, next edge, visits, times it could be taken, and node."""
NODES, EDGES = range(2)

# Searches.


def flat_monte_carlo(
    view: States, mask: Vector8, words: Words, playouts: int, noise: int, records: States, counts: Vector64, values: Floats
) -> int:
    """The action with the best mean return in about so many playouts, by sequential halving.

    In each round every action that is left is tried in the same worlds, with the same chance in the playouts. Writes to
    `counts[action]` and `values[0, action]` how often each was tried and its mean return; zeros where it was not.
    """
    counts[:] = 0
    values[:] = 0.0
    actions = np.empty(len(mask), np.int64)
    number = list_legal(mask, actions)
    legal = mask.copy()
    returns = np.empty(view[0].num_seats)
    luck = np.empty(1, np.uint64)
    rounds = 1
    while 1 << rounds < number:
        rounds += 1
    while number > 1:
        for _ in range(max(1, playouts // (rounds * number))):
            draw_world(records, view, words)
            word = next_word(words, 0)
            for k in range(number):
                luck[0] = word
                records[SIMULATED] = records[WORLD]
                returns[:] = 0.0
                play_on(records[SIMULATED], actions[k], returns)
                play_out(records, legal, noise, luck, returns)
                counts[actions[k]] += 1
                values[0, actions[k]] += returns[view[0].viewer]
        for k in range(number):  # the better half comes first; of equals the lower action
            best = k
            for other in range(k + 1, number):
                if values[0, actions[other]] > values[0, actions[best]]:
                    best = other
            best_action = actions[best]
            for place in range(best, k, -1):
                actions[place] = actions[place - 1]
            actions[k] = best_action
        number = (number + 1) // 2
    for action in range(len(mask)):
        if counts[action] > 0:
            values[0, action] /= counts[action]
    return actions[0]


def grow_tree(
    view: States,
    mask: Vector8,
    words: Words,
    iterations: int,
    noise: int,
    records: States,
    memory: Grid64,
    tree: Grid64,
    sums: Floats,
    table: Vector64,
    sizes: Vector64,
    extent: Floats,
) -> int:
    """Iterations of information-set tree search from the view, as many as asked for or have room; returns their number.

    Nodes of the searcher are what it has seen happen, whatever was left to chance; its edges count how often they could be
    taken. Another seat's choice leads to the next such node: all that the searcher cannot tell apart to the same one, and
    what it does not see at all nowhere. What others choose depends on what they know in the world of the iteration: nodes of
    their own, found by the digest of their view in `table`. Each seat is led by its own returns.
    `memory` is `records` as whole numbers, `mask` working space. `tree`, `sums`, `table` (-1: free), `sizes` (nodes and edges
    so far; node 0 is the searcher's decision) and `extent` (lowest and highest return so far) grow from call to call.
    """
    seer = view[0].viewer
    num_actions = len(mask)
    actions, word = np.empty(num_actions, np.int64), np.empty(1, np.uint64)
    returns = np.empty(view[0].num_seats)
    path, seats = np.empty(MAX_DEPTH, np.int64), np.empty(MAX_DEPTH, np.int64)
    state = records[SIMULATED]
    for iteration in range(iterations):
        if sizes[EDGES] + 2 * MAX_DEPTH >= tree.shape[1]:
            return iteration
        draw_world(records, view, words)
        records[SIMULATED] = records[WORLD]
        returns[:] = 0.0
        scale = max(extent[0, 1] - extent[0, 0], 1e-9)
        node, depth, growing = 0, 0, True
        while growing and depth < MAX_DEPTH and not (state.terminated or state.truncated):
            mask[:] = 0
            legal_actions(state, mask)
            number = list_legal(mask, actions)
            make_view(records, SIMULATED, state.seat, records[VIEW : VIEW + 1])
            likely = choose_easy(records[VIEW], mask, words)
            if state.seat == seer:
                edge = pick_own(tree, sums, sizes, node, actions, number, likely, scale, words)
                growing = tree[VISITS, edge] > 0
                link = edge
            else:
                known = find_node(tree, table, sizes, digest(memory[VIEW], word))
                edge = pick_others(tree, sums, sizes, known, actions, number, likely, noise, scale, words)
                choice = name_choice(records, memory, actions, number, tree[KEY, edge], seer, word, num_actions)
                link = -1
                if choice <= num_actions:
                    key = -1 - (state.seat * (num_actions + 1) + choice)
                    link = find_edge(tree, node, key)
                    if link < 0:
                        link = add_edge(tree, sums, sizes, node, key)
            path[depth], seats[depth] = edge, state.seat
            depth += 1
            play_on(state, tree[KEY, edge], returns)
            if link >= 0:
                if tree[CHILD, link] < 0:
                    tree[CHILD, link] = add_node(tree, sizes)
                node = tree[CHILD, link]
        play_out(records, mask, noise, words, returns)
        for k in range(depth):
            tree[VISITS, path[k]] += 1
            sums[0, path[k]] += returns[seats[k]]
        extent[0, 0] = min(extent[0, 0], returns.min())
        extent[0, 1] = max(extent[0, 1], returns.max())
    return iterations


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
    """What both searching players share: a budget, a generator of their own, and working space."""

    method: str

    def __init__(self, budget: str = ""):
        """A budget as `Budget.parse` reads it; of 300 playouts if none is given."""
        self.budget = Budget.parse(budget or "300")
        self.name = f"{self.method}:{budget}" if budget else self.method

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """Start the generator at the word `seed`."""
        self._loops = search_loops(game)
        self._words = np.array([seed], np.uint64)
        self._records = new_states(game.state, 3)
        self._mask = np.zeros(game.actions.size, np.int8)
        self.counts = np.zeros(game.actions.size, np.int64)
        """How often each action was tried in the last search, int64 (actions,)."""
        self.values = np.zeros((1, game.actions.size))
        """Its mean return, float64 (1, actions); 0 where it was not tried."""

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        """The action that the search finds best; a single legal one is taken at once. See `Agent.act`."""
        legal = mask.nonzero()[0]
        return int(legal[0]) if len(legal) == 1 else self._search(mask, view)

    def _search(self, mask: np.ndarray, view: np.ndarray) -> int:
        raise NotImplementedError


class FlatMonteCarlo(SearchAgent):
    """Tries the legal actions out in sampled worlds and takes the one with the best mean return."""

    method = "flat-mc"
    _rate = 1.0

    def _search(self, mask, view):
        if not self.budget.milliseconds:
            return self._try(mask, view, self.budget.playouts)
        start = time.perf_counter()
        action = self._try(mask, view, max(int(mask.sum()), int(self._rate * self.budget.milliseconds)))
        self._rate = self.counts.sum() / (time.perf_counter() - start) / 1000
        return action

    def _try(self, mask, view, playouts: int) -> int:
        return self._loops.flat_monte_carlo(view, mask, self._words, playouts, NOISE, self._records, self.counts, self.values)


class TreeSearch(SearchAgent):
    """Information-set Monte Carlo tree search."""

    method = "ismcts"

    def _search(self, mask, view):
        end = time.perf_counter() + self.budget.milliseconds / 1000
        capacity = 2 * MAX_DEPTH + EDGES_PER_ITERATION * (self.budget.playouts or 4096)
        tree, sums, table = np.empty((7, capacity), np.int64), np.zeros((1, capacity)), np.full(2 * capacity, -1)
        tree[FIRST, 0] = -1
        sizes, extent = np.array([1, 0]), np.array([[np.inf, -np.inf]])
        memory = self._records.view(np.int64).reshape(3, -1)
        left = self.budget.playouts or CHUNK
        while left > 0:
            self._mask[:] = mask
            done = self._loops.grow_tree(
                view, self._mask, self._words, left, NOISE, self._records, memory, tree, sums, table, sizes, extent
            )
            if self.budget.milliseconds:
                left = CHUNK if time.perf_counter() < end and done == CHUNK else 0
            else:
                left = left - done if done else 0
        return self._best(tree, sums)

    def _best(self, tree: np.ndarray, sums: np.ndarray) -> int:
        """The action that was tried most at the root; of equals the one with the better mean."""
        self.counts[:] = 0
        self.values[:] = 0.0
        edge = tree[FIRST, 0]
        while edge >= 0:
            if tree[KEY, edge] >= 0:
                self.counts[tree[KEY, edge]] = tree[VISITS, edge]
                self.values[0, tree[KEY, edge]] = sums[0, edge] / tree[VISITS, edge]
            edge = tree[NEXT, edge]
        tried = self.counts.nonzero()[0]
        return int(max(tried, key=lambda action: (self.counts[action], self.values[0, action])))


@functools.cache
def search_loops(game: Game) -> GameLoops:
    """The searches bound to a game, compiled when first used."""
    return GameLoops(game, sys.modules[__name__])
