import java.util.ArrayList;
import java.util.List;

/** Makes garbage on two threads and keeps a part of it, so that collectors have all they do to do. */
public class Garbage {
    static volatile Object sink;

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        for (int t = 0; t < 2; t++) {
            Thread thread = new Thread(() -> {
                List<byte[]> kept = new ArrayList<>();
                while (System.nanoTime() < end) {
                    byte[] b = new byte[4096];
                    sink = b;
                    if (kept.size() < 4000) {
                        kept.add(b);
                    } else {
                        kept.set((int) (System.nanoTime() & 2047), b);
                    }
                    if ((System.nanoTime() & 0xfffff) == 0) {
                        kept.clear();
                    }
                }
            });
            thread.start();
        }
    }
}
