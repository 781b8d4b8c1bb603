"""Toy games in our own format."""
