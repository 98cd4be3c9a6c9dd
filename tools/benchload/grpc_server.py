"""A gRPC service that answers each call with its own message. Its arguments are the address and the channel's
arguments, as NAME=NUMBER. Messages are not decoded, so that it needs no generated code."""
import sys
from concurrent import futures

import grpc


def echo(request, context):
    return request


options = [(name, int(value)) for name, value in (argument.split("=", 1) for argument in sys.argv[2:])]
server = grpc.server(futures.ThreadPoolExecutor(max_workers=16), options=options)
handler = grpc.method_handlers_generic_handler("bench.Echo", {"Call": grpc.unary_unary_rpc_method_handler(echo)})
server.add_generic_rpc_handlers((handler,))
if not server.add_insecure_port(sys.argv[1]):
    sys.exit("cannot listen on " + sys.argv[1])
server.start()
server.wait_for_termination()
