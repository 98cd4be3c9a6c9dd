package reflection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Call is one call of a method.
type Call struct {
	Target string // grpc://HOST:PORT/PACKAGE.SERVICE/METHOD
	// JSON are the messages, one object after the other; "": one that is empty.
	JSON       string
	Messages   int    // so many are sent, from the first one again after the last; 0: as many as JSON has
	Descriptor string // a file with a descriptor set; "": the service is asked
	Insecure   bool   // any certificate is accepted
}

// DataError is a message that does not fit its description.
type DataError struct{ error }

// OneMessageError is that several messages were given for a method that takes one.
type OneMessageError struct{ Method string }

func (e *OneMessageError) Error() string {
	return e.Method + " takes one message; several are for methods that take a stream of them"
}

// Encode returns the wire format of a call's messages.
func Encode(ctx context.Context, call Call) ([][]byte, error) {
	m, err := method(ctx, call)
	if err != nil {
		return nil, err
	}
	all, err := encodeAll(m, call.JSON)
	if err != nil {
		return nil, &DataError{err}
	}
	n := call.Messages
	if n == 0 {
		n = len(all)
	}
	if n > 1 && !m.IsStreamingClient() {
		return nil, &OneMessageError{string(m.FullName())}
	}
	out := make([][]byte, n)
	for i := range out {
		out[i] = all[i%len(all)]
	}
	return out, nil
}

// encodeAll encodes each object of the JSON.
func encodeAll(m protoreflect.MethodDescriptor, text string) (out [][]byte, err error) {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var one json.RawMessage
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("message %d is not JSON: %w", len(out)+1, err)
		}
		message := dynamicpb.NewMessage(m.Input())
		if err := protojson.Unmarshal(one, message); err != nil {
			return nil, fmt.Errorf("message %d is not a %s: %w", len(out)+1, m.Input().FullName(), err)
		}
		b, err := proto.Marshal(message)
		if err != nil {
			return nil, fmt.Errorf("encode message %d: %w", len(out)+1, err)
		}
		out = append(out, b)
	}
}
