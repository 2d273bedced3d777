"""usage: parse-windows.py LIST: parses every window file once and prints the number of candles.

LIST is JSON: [{"symbol", "interval", "files": [path, ...]}, ...].
"""

import json
import sys

with open(sys.argv[1]) as file:
    series = json.load(file)
candles = 0
for entry in series:
    for path in entry["files"]:
        with open(path, "rb") as file:
            candles += len(json.loads(file.read()))
print(candles)
