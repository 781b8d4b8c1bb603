"""The environments: one AEC class, one batch class and one Gymnasium class (with its vector form) serve every game."""
