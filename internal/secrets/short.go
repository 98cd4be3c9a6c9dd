package secrets

import "strings"

// form is how an option of one letter, or one that says nothing by its name, gives a secret.
type form int

const (
	joined form = 1 << iota // -pVALUE
	apart                   // -p VALUE
	after                   // user:VALUE, user%VALUE
	kinds                   // pass:VALUE (openssl)
)

// short are a program's options of that kind, by name.
type short map[string]form

// programs have options that their names don't tell. The manual page of each is the source.
var programs = map[string]short{
	"mysql": {"-p": joined}, "mysqldump": {"-p": joined}, "mysqladmin": {"-p": joined}, "mysqlimport": {"-p": joined}, "mysqlcheck": {"-p": joined}, "mysqlbinlog": {"-p": joined}, "mysqlslap": {"-p": joined}, "mysqlshow": {"-p": joined},
	"mariadb": {"-p": joined}, "mariadb-dump": {"-p": joined}, "mariadb-admin": {"-p": joined}, "mariadb-backup": {"-p": joined}, "xtrabackup": {"-p": joined}, "mytop": {"-p": joined | apart},
	"sshpass": {"-p": joined | apart}, "redis-cli": {"-a": apart}, "valkey-cli": {"-a": apart}, "redis-benchmark": {"-a": apart}, "memtier_benchmark": {"-a": apart},
	"curl": {"-u": joined | apart | after, "--user": apart | after, "-U": joined | apart | after, "--proxy-user": apart | after, "-b": joined | apart, "-E": apart | after, "--cert": apart | after},
	"http": {"-a": apart | after}, "https": {"-a": apart | after}, "ab": {"-A": apart | after, "-P": apart | after}, "wrk": {}, "hey": {"-a": apart | after}, "siege": {},
	"ldapsearch": {"-w": joined | apart}, "ldapadd": {"-w": joined | apart}, "ldapmodify": {"-w": joined | apart}, "ldapdelete": {"-w": joined | apart}, "ldapwhoami": {"-w": joined | apart}, "ldappasswd": {"-w": joined | apart, "-s": joined | apart, "-a": joined | apart},
	"mongo": {"-p": joined | apart}, "mongosh": {"-p": joined | apart}, "mongodump": {"-p": joined | apart}, "mongorestore": {"-p": joined | apart}, "mongostat": {"-p": joined | apart},
	"smbclient": {"-U": joined | apart | after, "--user": apart | after}, "rpcclient": {"-U": joined | apart | after}, "net": {"-U": joined | apart | after},
	"mosquitto_pub": {"-P": apart}, "mosquitto_sub": {"-P": apart}, "mosquitto_rr": {"-P": apart}, "rabbitmqadmin": {"-p": joined | apart}, "docker": {"-p": apart}, "podman": {"-p": apart}, "skopeo": {"--creds": apart | after},
	"sqlcmd": {"-P": joined | apart}, "bcp": {"-P": joined | apart}, "isql": {"-P": joined | apart}, "tsql": {"-P": joined | apart}, "sqlplus": {}, "clickhouse-client": {}, "cqlsh": {"-p": joined | apart}, "influx": {}, "vsql": {"-w": joined | apart},
	"snmpget": {"-c": joined | apart, "-A": joined | apart, "-X": joined | apart}, "snmpwalk": {"-c": joined | apart, "-A": joined | apart, "-X": joined | apart}, "snmpbulkwalk": {"-c": joined | apart, "-A": joined | apart, "-X": joined | apart}, "snmptrap": {"-c": joined | apart},
	"ipmitool": {"-P": joined | apart}, "racadm": {"-p": apart}, "amtterm": {"-p": apart}, "htpasswd": {}, "openssl": {"-k": apart, "-K": apart, "-pass": apart | kinds, "-passin": apart | kinds, "-passout": apart | kinds},
	"7z": {"-p": joined}, "7za": {"-p": joined}, "7zr": {"-p": joined}, "zip": {"-P": joined | apart}, "unzip": {"-P": joined | apart}, "rar": {"-p": joined, "-hp": joined}, "unrar": {"-p": joined},
	"xfreerdp": {"/p:": joined}, "rdesktop": {"-p": joined | apart}, "x11vnc": {"-passwd": apart}, "lftp": {"-u": joined | apart | after}, "ncftpput": {"-p": apart}, "ncftpget": {"-p": apart}, "ftp-upload": {"--password": apart}, "wget": {},
	"kinit": {}, "nmcli": {}, "wpa_passphrase": {}, "iscsiadm": {}, "vncviewer": {}, "svn": {}, "pgbench": {}, "sipp": {"-ap": apart}, "sipsak": {"-a": apart}, "kafkacat": {}, "kcat": {},
}

// shortOf are those of the program that a command line runs, also behind what runs it.
func shortOf(args []string) short {
	for i, arg := range args {
		if i > 8 {
			break
		}
		if s, ok := programs[program(arg)]; ok {
			return s
		}
	}
	return nil
}

// mask masks an argument of the program's own forms; next: its value is the next argument.
func (s short) mask(arg string) (masked string, next, ok bool) {
	if f, is := s[arg]; is {
		return arg, f&apart != 0, f&apart != 0 || f == joined
	}
	for name, f := range s {
		if f&joined == 0 || len(arg) <= len(name) || !strings.HasPrefix(arg, name) || strings.HasPrefix(arg, "--") {
			continue
		}
		return name + f.hide(arg[len(name):]), false, true
	}
	return "", false, false
}

func (s short) value(name, v string) string { return s[name].hide(v) }

func (f form) hide(v string) string {
	switch {
	case f&after != 0:
		at := strings.IndexAny(v, ":%")
		if at < 0 {
			return v // a name alone
		}
		return v[:at+1] + Hidden
	case f&kinds != 0:
		if kind, _, _ := strings.Cut(v, ":"); kind == "file" || kind == "env" || kind == "fd" || kind == "stdin" {
			return v
		}
		if strings.HasPrefix(v, "pass:") {
			return "pass:" + Hidden
		}
	}
	return Hidden
}
