import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that share a connection to a backend, or wait for work: Convoy MODE PORT THREADS. */
public class Convoy {
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static final LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
    static InputStream in;
    static OutputStream out;

    static void askBackend() throws Exception {
        out.write(1);
        if (in.read() < 0) {
            System.exit(0);
        }
    }

    static void underMonitor() throws Exception {
        synchronized (monitor) {
            askBackend();
        }
    }

    static void underLock() throws Exception {
        lock.lock();
        try {
            askBackend();
        } finally {
            lock.unlock();
        }
    }

    /** Work under a lock of its own for a moment only, which nobody waits for. */
    static void briefly() throws Exception {
        synchronized (monitor) {
            queue.size();
        }
        Thread.sleep(5);
    }

    static void takeWork() throws Exception {
        queue.take();
        Thread.sleep(3);
    }

    public static void main(String[] args) throws Exception {
        String mode = args[0];
        Socket backend = new Socket("127.0.0.1", Integer.parseInt(args[1]));
        in = backend.getInputStream();
        out = backend.getOutputStream();
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            final int me = i;
            Thread t = new Thread(() -> {
                try {
                    while (true) {
                        switch (mode) {
                            case "monitor": underMonitor(); break;
                            case "lock": underLock(); break;
                            default:
                                if (me % 2 == 0) {
                                    takeWork();
                                } else {
                                    briefly();
                                }
                        }
                    }
                } catch (Exception e) {
                    System.exit(1);
                }
            }, "worker-" + i);
            t.setDaemon(true);
            t.start();
        }
        if (mode.equals("pool")) {
            Thread t = new Thread(() -> {
                try {
                    for (int i = 0;; i++) {
                        queue.put(i);
                        Thread.sleep(2);
                    }
                } catch (Exception e) {
                    System.exit(1);
                }
            }, "producer");
            t.setDaemon(true);
            t.start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
    }
}
