"""A gRPC call of one message each way. method=/shop.Shop/Price, size=N bytes,
deadline=SECONDS after which a call is given up (default: the client's time-out)."""
import grpc


class Client:
    def __init__(self, to, options, timeout):
        self.timeout = float(options.get("deadline", timeout))
        # Each client is a channel with a connection of its own.
        self.channel = grpc.insecure_channel(to, [("grpc.use_local_subchannel_pool", 1), ("grpc.max_reconnect_backoff_ms", 500)])
        self.call = self.channel.unary_unary(options.get("method", "/shop.Shop/Price"))
        self.message = b"x" * int(options.get("size", "100"))

    def ask(self):
        try:
            self.call(self.message, timeout=self.timeout)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                raise TimeoutError("deadline exceeded")
            raise Exception(str(error.code()))

    def close(self):
        self.channel.close()
