package containers

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"
)

// cri calls ListContainers of the Container Runtime Interface (k8s.io/cri-api, runtime/v1/api.proto) without a
// filter: one call of gRPC, which is a POST over HTTP/2.
func cri(ctx context.Context, path string) ([]Container, error) {
	// No filter: an empty message, behind one byte for its compression and four for its length.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://cri/runtime.v1.RuntimeService/ListContainers", bytes.NewReader(make([]byte, 5)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	b, head, err := ask(path, true, req)
	if err != nil {
		return nil, err
	}
	if status := head.Get("Grpc-Status"); status != "0" {
		return nil, fmt.Errorf("status %q of gRPC: %s", status, head.Get("Grpc-Message"))
	}
	if len(b) < 5 || b[0] != 0 || uint64(binary.BigEndian.Uint32(b[1:])) != uint64(len(b)-5) {
		return nil, errNoList
	}
	return listed(b[5:])
}

var errNoList = errors.New("its answer is not a list of containers")

// Numbers of fields in runtime/v1/api.proto.
const (
	fieldContainers = 1 // of ListContainersResponse
	fieldID         = 1 // of Container
	fieldMetadata   = 3
	fieldState      = 6
	fieldLabels     = 8
	fieldName       = 1 // of ContainerMetadata
	running         = 1 // CONTAINER_RUNNING
)

func listed(b []byte) ([]Container, error) {
	var out []Container
	err := fields(b, func(number protowire.Number, _ uint64, inside []byte) error {
		if number != fieldContainers {
			return nil
		}
		c, runs, err := container(inside)
		if runs && isID(c.ID) {
			out = append(out, c)
		}
		return err
	})
	return out, err
}

func container(b []byte) (c Container, runs bool, err error) {
	var id, name string
	labels := map[string]string{}
	err = fields(b, func(number protowire.Number, v uint64, inside []byte) error {
		switch number {
		case fieldID:
			id = string(inside)
		case fieldState:
			runs = v == running
		case fieldMetadata:
			return fields(inside, func(number protowire.Number, _ uint64, text []byte) error {
				if number == fieldName {
					name = string(text)
				}
				return nil
			})
		case fieldLabels: // an entry of a map: 1 is the key, 2 the value
			var entry [3]string
			err := fields(inside, func(number protowire.Number, _ uint64, text []byte) error {
				if number < 3 {
					entry[number] = string(text)
				}
				return nil
			})
			labels[entry[1]] = entry[2]
			return err
		}
		return nil
	})
	return labelled(id, name, labels), runs, err
}

// fields calls f with each field of a message: v of a varint, inside of what has a length.
func fields(b []byte, f func(number protowire.Number, v uint64, inside []byte) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errNoList
		}
		b = b[n:]
		var v uint64
		var inside []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			inside, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return errNoList
		}
		b = b[n:]
		if err := f(number, v, inside); err != nil {
			return err
		}
	}
	return nil
}
