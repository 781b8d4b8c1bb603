"""`python -m cardenvs` is the command `cardenvs`."""

from cardenvs.command import main

main()
