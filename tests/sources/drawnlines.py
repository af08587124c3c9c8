"""Lines of JSON objects for tests, whole and damaged."""

from __future__ import annotations

import json

from hypothesis import strategies as st

VALUE = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.lists(st.text())
)
LINE = st.dictionaries(st.sampled_from(["email", "y", "x"]), VALUE).map(json.dumps) | st.sampled_from(
    ["", "{}", "[]", "{", '{"email":1,"email":2}', '{"email":{"a":"b"}}', '{"email":"\\ud800"}',
     ' {"email" : "b@example.com" , "y":-0}\r', '{"y":"ü","x":[{"email":1,"email":2}]}', '{"x":1,"y":2,"x":3}',
     '{"email":"é","y":12345678901234567890}', '{"y":1e2}', '{"y":0.10}', '{"y":true}', '{"email":["a",null],"y":0}',
     '{"e\\u006dail":"c@example.com"}', '{"email":"\\/"}', '{"x":"\\ud83d\\ude00","y":"z"}']
)  # fmt: skip
PARTS = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", ",", ":", '"', "\\", '"y":', '"email":', '"x":', "null", "true", "1", "0", "-", ".5", "e1",
         " ", "\t", "\x00", "\x7f", "é", '"a"', "\\n", "\\u0041", "\\ud800", "/", "NaN"]
    ),
    max_size=12,
).map("".join)  # fmt: skip
CHANGED = st.tuples(LINE, st.integers(0, 60), st.integers(0, 3), PARTS).map(
    lambda drawn: drawn[0][: drawn[1]] + drawn[3] + drawn[0][drawn[1] + drawn[2] :]
)
