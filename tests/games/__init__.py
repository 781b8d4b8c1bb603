"""Rule by rule tests of the games, and the facts that recorded games list."""
