package sockets

import (
	"fmt"

	"snag/recording"
)

// answers are what failed answers are called (enum answer of answers.h).
var answers = []string{"", "HTTP 5xx or 429", "SIP 5xx or 6xx", "RTSP 5xx or 453", "a Redis error", "a memcached error", "a PostgreSQL error", "a MySQL error",
	"an AMQP close", "an MQTT refusal", "DNS SERVFAIL", "DNS REFUSED", "no DNS answer in 5 s", "HTTP/2",
	"reply", "IMAP", "POP3 -ERR [SYS/…]", "a Redis or POP3 error", "beanstalkd", "LDAP", "Kafka"}

// The places of those among answers of which more is known.
const (
	answeredHTTP2 = 13 + iota
	answeredReply
	answeredIMAP
	_
	_
	answeredBeanstalkd
	answeredLDAP
	answeredKafka
)

// failedAs is what the last of them was called: of HTTP/2, LDAP and Kafka the error code,
// of FTP, SMTP and NNTP the reply code, of TLS which alert, and of whom.
func failedAs(as uint32) string {
	const shift, kinds, ofPeer, ofAll = 8, 0xff, 1 << 16, 1 << 17 // answers.h
	kind, code := int(as&kinds), uint8(as>>shift)
	switch {
	case kind == answeredHTTP2:
		return http2Error(code, as&ofAll != 0)
	case kind == answeredReply:
		return fmt.Sprintf("%s %d of FTP, SMTP or NNTP", answers[kind], 300+int(code))
	case kind == answeredIMAP && int(code) < len(imapCodes):
		return answers[kind] + " " + imapCodes[code]
	case kind == answeredBeanstalkd && int(code) < len(beanstalkdErrors):
		return answers[kind] + " " + beanstalkdErrors[code]
	case kind == answeredLDAP:
		return answers[kind] + " " + named(ldapCodes, code)
	case kind == answeredKafka:
		return answers[kind] + " " + named(kafkaErrors, code)
	case kind < len(answers):
		return answers[kind]
	}
	return recording.TLSAlert(code, as&ofPeer != 0)
}

func named(codes map[uint8]string, code uint8) string {
	if name := codes[code]; name != "" {
		return name
	}
	return fmt.Sprintf("error %d", code)
}

// imapCodes are a greeting that refuses, and response codes (RFC 5530), by the numbers that
// answers_text.h gives them.
var imapCodes = []string{"BYE", "UNAVAILABLE", "SERVERBUG", "LIMIT", "OVERQUOTA", "INUSE", "CONTACTADMIN"}

var beanstalkdErrors = []string{"", "OUT_OF_MEMORY", "INTERNAL_ERROR", "DRAINING", "JOB_TOO_BIG"}

// ldapCodes are result codes of RFC 4511, A.1.
var ldapCodes = map[uint8]string{3: "timeLimitExceeded", 11: "adminLimitExceeded", 51: "busy", 52: "unavailable", 53: "unwillingToPerform", 80: "other"}

// kafkaErrors are the error codes of the protocol that are counted (kafka.h); -1 is 255.
var kafkaErrors = map[uint8]string{
	255: "UNKNOWN_SERVER_ERROR", 2: "CORRUPT_MESSAGE", 5: "LEADER_NOT_AVAILABLE", 6: "NOT_LEADER_OR_FOLLOWER", 7: "REQUEST_TIMED_OUT",
	8: "BROKER_NOT_AVAILABLE", 9: "REPLICA_NOT_AVAILABLE", 10: "MESSAGE_TOO_LARGE", 13: "NETWORK_EXCEPTION", 14: "COORDINATOR_LOAD_IN_PROGRESS",
	15: "COORDINATOR_NOT_AVAILABLE", 16: "NOT_COORDINATOR", 19: "NOT_ENOUGH_REPLICAS", 20: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	56: "KAFKA_STORAGE_ERROR", 81: "GROUP_MAX_SIZE_REACHED", 89: "THROTTLING_QUOTA_EXCEEDED",
}

// http2Errors are the error codes of RFC 9113, 7.
var http2Errors = []string{"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"}

// http2Error is a stream that its server reset (RST_STREAM), or a connection that it ends
// for an error (GOAWAY): "HTTP/2 RST_STREAM REFUSED_STREAM".
func http2Error(code uint8, goAway bool) string {
	frame, what := "RST_STREAM", fmt.Sprintf("error %d", code)
	if goAway {
		frame = "GOAWAY"
	}
	if int(code) < len(http2Errors) {
		what = http2Errors[code]
	}
	return answers[answeredHTTP2] + " " + frame + " " + what
}
