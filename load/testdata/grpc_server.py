"""A gRPC service by grpcio (C-core), /snag.test/Unary, /Upload and /Both, on raw bytes.

Arguments: the seconds that a call takes, the workers, the most calls at a time (0: any), and channel options NAME=INT.
Prints its port, and when its input ends how many calls it answered.
"""

import sys
import threading
import time
from concurrent import futures

import grpc

takes, workers, most = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
options = [(name, int(value)) for name, value in (a.split("=") for a in sys.argv[4:])]
answered = 0
lock = threading.Lock()


def count():
    global answered
    time.sleep(takes)
    with lock:
        answered += 1


def unary(request, _):
    count()
    return request


def upload(requests, _):
    size = sum(len(r) for r in requests)
    count()
    return str(size).encode()


def both(requests, _):
    yield from requests
    count()


class Service(grpc.GenericRpcHandler):
    def service(self, details):
        return {
            "/snag.test/Unary": grpc.unary_unary_rpc_method_handler(unary),
            "/snag.test/Upload": grpc.stream_unary_rpc_method_handler(upload),
            "/snag.test/Both": grpc.stream_stream_rpc_method_handler(both),
        }.get(details.method)


server = grpc.server(futures.ThreadPoolExecutor(workers), options=options, maximum_concurrent_rpcs=most or None)
server.add_generic_rpc_handlers((Service(),))
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
sys.stdin.read()
server.stop(None)
print(answered, flush=True)
