# Home Assistant's own stream component as an origin of low-latency HLS:
# home_assistant.py PORT SOURCE FOLDER. Prints the path of the master playlist. Its http and
# stream components are set up as at its start; no other part of it runs.
import asyncio
import sys
import types

# The camera component is asked for snapshots only, by a library that is not needed.
camera = types.ModuleType("homeassistant.components.camera")
camera.__path__ = []
img_util = types.ModuleType("homeassistant.components.camera.img_util")
img_util.TurboJPEGSingleton = type("TurboJPEGSingleton", (), {"instance": staticmethod(lambda: None)})
sys.modules[camera.__name__] = camera
sys.modules[img_util.__name__] = img_util

from homeassistant import auth, loader
from homeassistant.components.stream import Orientation, create_stream
from homeassistant.config_entries import ConfigEntries
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry, device_registry, entity_registry, issue_registry, translation
from homeassistant.setup import async_setup_component


async def main(port, source, folder):
    hass = HomeAssistant(folder)
    hass.config.skip_pip = True
    loader.async_setup(hass)
    hass.config_entries = ConfigEntries(hass, {})
    translation.async_setup(hass)
    for registry in (area_registry, device_registry, entity_registry, issue_registry):
        await registry.async_load(hass)
    hass.auth = await auth.auth_manager_from_config(hass, [], [])
    config = {
        "http": {
            "server_host": ["127.0.0.1"], "server_port": port, "cors_allowed_origins": [],
            "login_attempts_threshold": -1, "ip_ban_enabled": False, "ssl_profile": "modern",
            "use_x_frame_options": True,
        },
        "stream": {"ll_hls": True, "segment_duration": 2, "part_duration": 0.2},
    }
    for component in ("http", "stream"):
        if not await async_setup_component(hass, component, config):
            sys.exit("its component " + component + " can't be set up")
    await hass.async_start()
    settings = types.SimpleNamespace(preload_stream=True, orientation=Orientation.NO_TRANSFORM)
    stream = create_stream(hass, source, {}, settings)
    stream.add_provider("hls")
    await stream.start()
    print(stream.endpoint_url("hls"), flush=True)
    await asyncio.Event().wait()


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
