import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

/** A shop: asks its upstream for each answer. What goes wrong is there while a file is. */
public class Shop extends HttpServlet {
	static final String FAULT = System.getenv("FAULT"), UPSTREAM = System.getenv("UPSTREAM");
	static final double FILL = Double.parseDouble(System.getenv("FILL"));
	static final File FLAG = new File(System.getenv("FLAG"));
	static final Object PRICES = new Object();
	static final List<Object> CACHE = new ArrayList<>();
	static final ArrayDeque<Object> RECENT = new ArrayDeque<>();

	@Override
	protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
		boolean on = FLAG.exists();
		byte[] body;
		if (on && FAULT.equals("synchronized-call")) {
			synchronized (PRICES) {
				body = ask();
			}
		} else {
			body = ask();
		}
		if (FAULT.equals("heap-full")) {
			remember(on);
		}
		response.setContentLength(body.length);
		response.getOutputStream().write(body);
	}

	byte[] ask() throws IOException {
		HttpURLConnection c = (HttpURLConnection) URI.create("http://" + UPSTREAM + "/price").toURL().openConnection();
		try (InputStream in = c.getInputStream()) {
			return in.readAllBytes();
		}
	}

	/** Keeps sessions until little of the heap is left, and what the last requests made. */
	static void remember(boolean on) {
		synchronized (CACHE) {
			if (!on) {
				CACHE.clear();
				RECENT.clear();
				return;
			}
			Runtime r = Runtime.getRuntime();
			if (r.totalMemory() - r.freeMemory() < FILL * r.maxMemory()) {
				for (int i = 0; i < 8000; i++) {
					HashMap<String, Object> session = new HashMap<>();
					session.put("id", i);
					CACHE.add(session);
				}
			}
			List<Object> made = new ArrayList<>();
			for (int i = 0; i < 5000; i++) {
				made.add(new int[4]);
			}
			RECENT.add(made);
			if (RECENT.size() > 16) {
				RECENT.poll();
			}
		}
	}
}
