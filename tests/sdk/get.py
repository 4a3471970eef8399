"""get.py URL: sends a GET with the body {} by each client of Python; prints what the server saw, as JSON."""
import json
import sys
import urllib.request

import requests

URL = sys.argv[1]
print(json.dumps({
    "Python `requests`": requests.get(URL, data="{}", timeout=10).text,
    "Python `urllib.request`": urllib.request.urlopen(
        urllib.request.Request(URL, b"{}", method="GET"), timeout=10).read().decode(),
}))
