"""A WebSocket server by python3-websockets, which echoes: NAME ADDR PORT."""
import asyncio, sys
import websockets

name, host, port = sys.argv[1:4]
open("/proc/self/comm", "w").write(name)


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def main():
    async with websockets.serve(echo, host, int(port), ping_interval=None, backlog=1024):
        print("ready", flush=True)
        await asyncio.sleep(290)


asyncio.run(main())
