# A GStreamer RTSP server of one file: server.py FILE [user password]. Prints its port.
import sys
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service("0")
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(
    "( filesrc location=%s ! qtdemux name=d"
    "  d.video_0 ! queue ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1"
    "  d.audio_0 ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97 )" % sys.argv[1])
server.get_mount_points().add_factory("/cam", factory)
transport = GstRtspServer.RTSPMediaFactory()
transport.set_launch(
    "( filesrc location=%s ! qtdemux name=d mpegtsmux name=m alignment=7 ! rtpmp2tpay name=pay0 pt=33"
    "  d.video_0 ! queue ! h264parse config-interval=-1 ! m. d.audio_0 ! queue ! aacparse ! m. )" % sys.argv[1])
server.get_mount_points().add_factory("/ts", transport)
if len(sys.argv) > 3:
    auth = GstRtspServer.RTSPAuth()
    auth.set_supported_methods(2)  # GST_RTSP_AUTH_DIGEST
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "user")
    auth.add_digest(sys.argv[2], sys.argv[3], token)
    server.set_auth(auth)
    role = "user, media.factory.access=(boolean)true, media.factory.construct=(boolean)true"
    factory.add_role_from_structure(Gst.Structure.new_from_string(role))
server.attach(None)
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
