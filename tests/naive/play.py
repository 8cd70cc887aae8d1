"""Quinlan's fourteen days on which somebody played or did not, with numbers and with names."""

import numpy as np
import pandas as pd

_DAYS = """
sunny 75 70 windy Play
sunny 80 90 windy Don't
sunny 85 85 calm Don't
sunny 72 95 calm Don't
sunny 69 70 calm Play
overcast 72 90 windy Play
overcast 83 78 calm Play
overcast 64 65 windy Play
overcast 81 75 calm Play
rain 71 80 windy Don't
rain 65 70 windy Don't
rain 75 80 calm Play
rain 68 80 calm Play
rain 70 96 calm Play
"""
_NAMED = """
sunny hot high calm Don't
sunny hot high windy Don't
overcast hot high calm Play
rain mild high calm Play
rain cool normal calm Play
rain cool normal windy Don't
overcast cool normal windy Play
sunny mild high calm Don't
sunny cool normal calm Play
rain mild normal calm Play
sunny mild normal windy Play
overcast mild high windy Play
overcast hot normal calm Play
rain mild high windy Don't
"""


def _read(text):
    days = [line.split() for line in text.split("\n") if line]
    columns = ("outlook", "temperature", "humidity", "windy")
    X = pd.DataFrame([day[:4] for day in days], columns=list(columns))
    X["windy"] = X.windy == "windy"
    return X, np.array([day[4] for day in days])


def with_names():
    """Temperature and humidity by name."""
    return _read(_NAMED)


def with_numbers():
    """Temperature and humidity as numbers."""
    X, y = _read(_DAYS)
    return X.astype({"temperature": float, "humidity": float}), y


def with_a_gap():
    """The day (overcast, 72, 90, windy) with its outlook unknown."""
    X, y = with_numbers()
    X.loc[5, "outlook"] = None
    return X, y
