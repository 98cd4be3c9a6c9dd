package secrets

import (
	"strings"
	"testing"
)

// The forms in which real programs are given what gives access, from their manual pages. In each
// S3cret stands where it is the secret, and must be gone; the rest must stay.
var given = []string{
	"mysql -u root -pS3cret shop",
	"mysql --user=root --password=S3cret",
	"mysqldump -pS3cret --all-databases",
	"mysqladmin -uroot -pS3cret ping",
	"mariadb -h db -pS3cret",
	"/usr/bin/mysqld_safe --wsrep-sst-auth=S3cret",
	"xtrabackup --backup --password S3cret",
	"psql postgresql://app:S3cret@db.example:5432/shop?sslmode=require",
	"psql host=db user=app password=S3cret dbname=shop",
	"pgbench -h db -U app postgres://app:S3cret@db/shop",
	"redis-cli -h cache -a S3cret PING",
	"redis-cli --pass S3cret INFO",
	"redis-server *:6379 --requirepass S3cret --masterauth S3cret",
	"redis-benchmark -a S3cret -n 1000",
	"mongo -u admin -p S3cret --authenticationDatabase admin",
	"mongodump --uri=mongodb://u:S3cret@h1,h2/db",
	"mongosh mongodb+srv://app:S3cret@cluster0.example.net/db",
	"curl -u app:S3cret https://api.example/v1",
	"curl -uapp:S3cret https://api.example/v1",
	"curl --user app:S3cret -o /dev/null https://api.example/",
	"curl -H Authorization:\x20Bearer\x20S3cret https://api.example/",
	"curl -H X-Api-Key:\x20S3cret https://api.example/",
	"curl https://api.example/?token=S3cret&page=2",
	"curl -d {\"user\":\"a\",\"password\":\"S3cret\"} https://api.example/login",
	"curl -b S3cret https://shop.example/",
	"wget --user=a --password=S3cret https://files.example/x",
	"wget --header=Cookie:\x20S3cret https://files.example/x",
	"http -a app:S3cret GET api.example",
	"hey -a app:S3cret https://api.example",
	"ffmpeg -re -i in.mp4 -f flv rtmp://a.rtmp.youtube.com/live2/S3cret-abcd-efgh-ijkl",
	"obs-ffmpeg-mux out rtmps://live.example:443/app/live_1234_S3cret0123456789",
	"ab -A app:S3cret -n 10 https://api.example/",
	"sshpass -pS3cret ssh host",
	"sshpass -p S3cret ssh host",
	"git clone https://x-access-token:S3cret@github.com/a/b.git",
	"git clone https://S3cretS3cretS3cretS3cret@git.example/a.git",
	"svn checkout --username a --password S3cret https://svn.example/",
	"docker login -u a -p S3cret registry.example",
	"docker run -e DB_PASSWORD=S3cret -e MODE=prod app",
	"podman run --env=API_TOKEN=S3cret app",
	"skopeo copy --src-creds a:S3cret docker://x docker://y",
	"kubectl --token=S3cret get pods",
	"kubectl create secret generic db --from-literal=password=S3cret",
	"helm install app --set db.password=S3cret,replicas=2",
	"vault login -method=userpass username=a password=S3cret",
	"vault write auth/approle/login role_id=x secret_id=S3cret",
	"consul agent -encrypt-key=S3cret",
	"aws configure set aws_secret_access_key=S3cret",
	"az login --service-principal -u app --password S3cret --tenant t",
	"gcloud auth login --access-token=S3cret",
	"ansible-playbook site.yml -e ansible_become_pass=S3cret",
	"terraform apply -var db_password=S3cret",
	"java -Djavax.net.ssl.keyStorePassword=S3cret -jar app.jar",
	"java -jar app.jar --spring.datasource.password=S3cret --server.port=8080",
	"keytool -list -keystore k.jks -storepass S3cret",
	"openssl s_client -connect h:443 -pass pass:S3cret",
	"openssl enc -aes-256-cbc -k S3cret -in a -out b",
	"openssl rsa -in k.pem -passin pass:S3cret",
	"snag record --stream rtmp://127.0.0.1/live/cam1?key=S3cret&k2=S3cret",
	"ffplay https://cdn.example/live/cam1.m3u8?hdnts=S3cret",
	"ffmpeg -re -i in.mp4 -f flv rtmp://user:S3cret@ingest.example/live/cam1",
	"ffmpeg -i rtsp://admin:S3cret@10.0.0.9:554/stream1 out.ts",
	"ffmpeg -i srt://h:9000?passphrase=S3cret&mode=caller out.ts",
	"ldapsearch -x -D cn=admin,dc=x -w S3cret -b dc=x",
	"ldapsearch -x -D cn=admin,dc=x -wS3cret",
	"smbclient //fs/share -U bob%S3cret",
	"mount -t cifs //fs/share /mnt -o user=bob,password=S3cret,vers=3",
	"mosquitto_pub -h mq -u a -P S3cret -t x -m y",
	"rabbitmqadmin -u guest -p S3cret list queues",
	"kcat -b h:9092 -X sasl.password=S3cret -L",
	"sqlcmd -S db -U sa -P S3cret -Q select",
	"isql DSN=x;UID=a;PWD=S3cret;SERVER=db",
	"snmpwalk -v2c -c S3cret 10.0.0.1 system",
	"snmpget -v3 -u a -A S3cret -X S3cret 10.0.0.1 sysUpTime.0",
	"ipmitool -I lanplus -H bmc -U admin -P S3cret power status",
	"7z x -pS3cret backup.7z",
	"unzip -P S3cret backup.zip",
	"xfreerdp /u:bob /p:S3cret /v:host",
	"lftp -u bob,x ftp://bob:S3cret@ftp.example/",
	"restic -r rest:https://user:S3cret@backup.example/ backup /srv",
	"gunicorn app:app --env SECRET_KEY=S3cret",
	"celery -A app worker --broker=amqp://guest:S3cret@mq:5672//",
	"python3 manage.py runserver --db-password S3cret",
	"node server.js --jwt-secret=S3cret",
	"php artisan serve --app-key-secret=S3cret",
	"app -dsn root:S3cret@tcp(db:3306)/shop",
	"prometheus --web.auth-token=S3cret",
	"rclone copy a b --s3-secret-access-key=S3cret",
	"openvpn --config c.ovpn --management-client-pass S3cret",
	"sipp -sf s.xml -au a -ap S3cret 10.0.0.2",
	"sudo -u app env DB_PASS=S3cret ./run",
	"timeout 60 mysql -pS3cret -e select",
}

func TestWhatGivesAccessIsMasked(t *testing.T) {
	programs := map[string]bool{}
	for _, line := range given {
		// \x20 within an argument is a space of it.
		args := strings.Split(line, " ")
		if strings.HasPrefix(line, "curl -H") || strings.Contains(line, "--header=") {
			args = header(line)
		}
		before := strings.Join(args, " ")
		got := strings.Join(Mask(args), " ")
		if strings.Contains(got, "S3cret") {
			t.Errorf("%s\n%s", before, got)
		}
		if joined := Line(before); strings.Contains(joined, "S3cret") {
			t.Errorf("as one line: %s\n%s", before, joined)
		}
		programs[args[0]] = true
	}
	if len(programs) < 60 {
		t.Errorf("%d programs", len(programs))
	}
}

func header(line string) []string {
	words := strings.Split(line, " ")
	last := len(words) - 1
	for i, w := range words {
		switch {
		case w == "-H":
			return append(words[:i+1:i+1], strings.Join(words[i+1:last], " "), words[last])
		case strings.HasPrefix(w, "--header="):
			return append(words[:i:i], strings.Join(words[i:last], " "), words[last])
		}
	}
	return words
}

// What is no secret tells which program it is, and must stay.
func TestTheRestStays(t *testing.T) {
	for _, line := range []string{
		"nginx: master process /usr/sbin/nginx -g daemon on; master_process on;",
		"/usr/lib/postgresql/15/bin/postgres -D /var/lib/postgresql/15/main -c config_file=/etc/postgresql/15/main/postgresql.conf",
		"postgres: app shop 10.0.0.9(51234) idle in transaction",
		"python3 app.py --port=8080 --bind 0.0.0.0 --workers 4",
		"java -Xmx4g -XX:+UseG1GC -Xlog:gc*:file=/var/log/gc.log -jar /srv/app.jar",
		"ffmpeg -re -i in.mp4 -c copy -f flv rtmp://127.0.0.1:1935/live/cam1",
		"ssh -p 2222 -i /home/a/.ssh/id_ed25519 git@github.com",
		"git clone ssh://git@git.example/a.git",
		"mkdir -p /srv/data/shop",
		"ps -p 1234 -o pid,comm",
		"openvpn --auth-user-pass /etc/openvpn/pass.txt",
		"mysqld --basedir=/usr --datadir=/var/lib/mysql --port=3306",
		"redis-server 127.0.0.1:6379",
		"vault server -token-ttl=60",
		"app --password-file=/run/secrets/db --token-path=/run/token",
		"app --key=/etc/ssl/private/key.pem --cert=/etc/ssl/cert.pem",
		"haproxy -Ws -f /etc/haproxy/haproxy.cfg -p /run/haproxy.pid",
		"uwsgi --ini /etc/uwsgi/app.ini --socket /run/app.sock",
		"kube-apiserver --authorization-mode=Node,RBAC --bypass=true",
		"openssl s_client -connect h:443 -passin file:/etc/pass",
		"docker run -p 8080:80 nginx",
		"ffprobe -v error -show_entries frame=pts_time,key_frame -i /srv/a.ts",
		"http://user@example/",
		"sshd: bob [priv]",
		"/usr/bin/dbus-daemon --system --address=systemd: --nofork",
	} {
		want := line
		if strings.HasPrefix(line, "docker run -p") {
			want = "docker run -p *** nginx" // of docker login it is the password: rather too much
		}
		if got := Line(line); got != want {
			t.Errorf("%s\n%s", line, got)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, line := range given {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		once := Line(line)
		if twice := Line(once); len(twice) > 4*len(line)+64 {
			t.Errorf("%q grows to %q", once, twice)
		}
		_ = Text(line)
	})
}
