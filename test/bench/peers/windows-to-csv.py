"""usage: windows-to-csv.py LIST OUT: writes the candles of window files as CSV, as a short script would.

LIST is JSON: [{"symbol", "interval", "files": [path, ...]}, ...].
"""

import csv
import json
import sys

COLUMNS = (
    "symbol,interval,open_time,open,high,low,close,volume,close_time,quote_volume,count,"
    "taker_buy_volume,taker_buy_quote_volume,ignore"
).split(",")

with open(sys.argv[1]) as file:
    series = json.load(file)
with open(sys.argv[2], "w", newline="") as out:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in series:
        name = [entry["symbol"], entry["interval"]]
        for path in entry["files"]:
            with open(path, "rb") as file:
                # A window at a time: less memory than everything, less time than a row at a time.
                writer.writerows([name + row for row in json.loads(file.read())])
