"""An identity provider (OpenID Connect) for one test: it vouches for whoever the test names."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "atlas"


@contextmanager
def provider(claims: dict[str, Any]) -> Iterator[str]:
    """The URL of a provider that says `claims` of everybody who asks to sign in."""
    key = RSAKey.generate_key(2048, parameters={"kid": "one", "use": "sig", "alg": "RS256"})
    nonces: dict[str, str] = {}

    class Provider(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            asked = {k: v[0] for k, v in parse_qs(url.query).items()}
            if url.path == "/.well-known/openid-configuration":
                self._json(
                    {
                        "issuer": address,
                        "authorization_endpoint": f"{address}/authorize",
                        "token_endpoint": f"{address}/token",
                        "jwks_uri": f"{address}/keys",
                        "response_types_supported": ["code"],
                        "subject_types_supported": ["public"],
                        "id_token_signing_alg_values_supported": ["RS256"],
                    }
                )
            elif url.path == "/keys":
                self._json({"keys": [key.as_dict(private=False)]})
            else:  # /authorize: nobody has to type a password here
                code = f"code-{len(nonces)}"
                nonces[code] = asked["nonce"]
                back = urlencode({"code": code, "state": asked["state"]})
                self.send_response(302)
                self.send_header("Location", f"{asked['redirect_uri']}?{back}")
                self.end_headers()

        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            now = int(time.time())
            said = {"iss": address, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 600}
            said |= {"nonce": nonces[asked["code"][0]], **claims}
            token = jwt.encode({"alg": "RS256", "kid": "one"}, said, key)
            self._json({"access_token": "a", "token_type": "Bearer", "id_token": token})

        def _json(self, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield address
    finally:
        server.shutdown()
