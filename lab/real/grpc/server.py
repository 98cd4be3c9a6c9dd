"""A gRPC service that asks an upstream for each answer. What goes wrong is there while FLAG
is."""
import http.client, os, threading
from concurrent import futures

import grpc

UPSTREAM, FLAG, FAULT = (os.environ[k] for k in ("UPSTREAM", "FLAG", "FAULT"))
lock = threading.Lock()


def ask():
    upstream = http.client.HTTPConnection(UPSTREAM)
    upstream.request("GET", "/price")
    answer = upstream.getresponse()
    body = answer.read()
    upstream.close()
    return answer.status, body


def price(request, context):
    try:
        if FAULT == "lock-held" and os.path.exists(FLAG):
            with lock:
                status, body = ask()
        else:
            status, body = ask()
    except OSError as error:
        context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
    if status != 200:
        context.abort(grpc.StatusCode.INTERNAL, "status %d" % status)
    return body


with open("/proc/self/comm", "w") as f:
    f.write("price-service")
rpcs = int(os.environ["RPCS"])
server = grpc.server(futures.ThreadPoolExecutor(int(os.environ["WORKERS"])), maximum_concurrent_rpcs=rpcs or None)
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop.Shop", {"Price": grpc.unary_unary_rpc_method_handler(price)}),))
server.add_insecure_port(os.environ["LISTEN"])
server.start()
print("ready", flush=True)
server.wait_for_termination()
