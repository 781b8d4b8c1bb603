"""What every game stands on: the contract, chance, codes of observations, and compiled loops over many tables."""
