"""Tests of cardenvs. Importing this package registers Kuhn poker, so that every generic test runs on a game from outside too."""

import cardenvs

cardenvs.register("kuhn-v0", "tests.toy.kuhn")
