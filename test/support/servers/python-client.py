"""Reads a served tree as a Python client would, with the standard library alone.

Arguments: the API's address (with /api), the folder that holds `api/` of the tree, a symbol, the text of the token stream.
"""

import json
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

api_root, folder, symbol, stream_text = sys.argv[1:]
opener = build_opener(ProxyHandler({}))


def get(address):
    with opener.open(address, timeout=60) as response:
        assert response.status == 200, (address, response.status)
        return json.load(response)


def status(address):
    try:
        with opener.open(address, timeout=60) as response:
            return response.status
    except HTTPError as error:
        body = json.load(error)
        assert body["statusCode"] == error.code and body["isError"] is True, body
        return error.code


def read(path):
    return json.loads((Path(folder) / "api" / path).read_bytes())


symbols = get(f"{api_root}/klines/symbols.json")
assert symbol in symbols and set(symbols) <= set(read("klines/symbols.json")), symbols
windows = 0
intervals = sorted(path.stem for path in (Path(folder) / "api/klines/start-dates").iterdir())
for interval in intervals:
    dates = get(f"{api_root}/klines/start-dates/{interval}.json")
    assert dates == read(f"klines/start-dates/{interval}.json"), interval
    for file in (Path(folder) / "api/klines" / interval / symbol).iterdir():
        assert file.stem in dates, file
        candles = get(f"{api_root}/klines/{interval}/{symbol}/{file.name}")
        assert candles == read(f"klines/{interval}/{symbol}/{file.name}"), file
        assert all(len(candle) == 12 and isinstance(candle[1], str) for candle in candles), file
        windows += 1
assert status(f"{api_root}/klines/1d/DOESNOTEXIST/2018-01-01.json") == 404
assert status(f"{api_root}/klines/1d/{symbol}/2018-01-02.json") == 404

for document in ("openapi.json", "static/openapi.json"):
    server = get(f"{api_root}/{document}")["servers"][0]["url"].rstrip("/")
    assert not server.endswith("/api"), server
    assert status(f"{server}/api/klines/symbols.json") == 200
    assert status(f"{server}/api/{document}") == 200

user = {"email": "john@example.com", "profile": {"name": "John Doe", "age": 25}}
user_id = "123e4567-e89b-12d3-a456-426614174000"
update = Request(
    f"{api_root}/users/{user_id}?notify=email",
    data=json.dumps(user).encode(),
    headers={"Content-Type": "application/json"},
)
with opener.open(update, timeout=60) as response:
    assert json.load(response) == {"success": True, "id": user_id, "notify": "email"}

stream = Request(f"{api_root}/streams/tokens", headers={"Accept": "application/jsonl"})
with opener.open(stream, timeout=60) as response:
    assert "".join(json.loads(line)["message"] for line in response) == stream_text

print(json.dumps({"intervals": len(intervals), "windows": windows}))
