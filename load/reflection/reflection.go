// Package reflection encodes messages of gRPC that were given as JSON. What a message consists of comes
// from a descriptor file, or from the service itself by server reflection
// (grpc/doc/server-reflection.md).
package reflection

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// method finds the description of a call's method.
func method(ctx context.Context, call Call) (protoreflect.MethodDescriptor, error) {
	u, err := url.Parse(call.Target)
	if err != nil {
		return nil, err
	}
	service, method, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	set, err := describe(ctx, u, service, call.Descriptor, call.Insecure)
	if err != nil {
		return nil, err
	}
	files, err := protodesc.FileOptions{AllowUnresolvable: true}.NewFiles(set)
	if err != nil {
		return nil, fmt.Errorf("read the description of %s: %w", service, err)
	}
	found, err := files.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return nil, fmt.Errorf("no service %s is described", service)
	}
	s, ok := found.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is not a service", service)
	}
	m := s.Methods().ByName(protoreflect.Name(method))
	if m == nil {
		return nil, fmt.Errorf("%s has no method %s: %s", service, method, strings.Join(names(s.Methods()), ", "))
	}
	return m, nil
}

func names(all protoreflect.MethodDescriptors) (out []string) {
	for i := range all.Len() {
		out = append(out, string(all.Get(i).Name()))
	}
	return out
}

func describe(ctx context.Context, u *url.URL, service, file string, insecure bool) (*descriptorpb.FileDescriptorSet, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := proto.Unmarshal(b, set); err != nil {
			return nil, fmt.Errorf("%s is not a descriptor set (protoc --include_imports --descriptor_set_out=FILE): %w", file, err)
		}
		return set, nil
	}
	var err error
	for _, version := range []string{"v1", "v1alpha"} {
		var files [][]byte
		if files, err = ask(ctx, u, version, service, insecure); err != nil {
			continue
		}
		for _, b := range files {
			f := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(b, f); err != nil {
				return nil, fmt.Errorf("%s describes %s, but not so that it can be read: %w", u.Host, service, err)
			}
			set.File = append(set.File, f)
		}
		return set, nil
	}
	return nil, fmt.Errorf("ask %s what %s consists of: %w; give --descriptor FILE (protoc --include_imports --descriptor_set_out=FILE)", u.Host, service, err)
}

// mostAnswer bounds what a service says about itself.
const mostAnswer = 16 << 20

// ask is one ServerReflectionInfo: file_containing_symbol is its field 4, and so is
// file_descriptor_response of the answer, whose field 1 are the files with all they import.
func ask(ctx context.Context, u *url.URL, version, service string, insecure bool) ([][]byte, error) {
	request := protowire.AppendString(protowire.AppendTag(nil, 4, protowire.BytesType), service)
	body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request))), request...)
	scheme := strings.Replace(u.Scheme, "grpc", "http", 1)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, scheme+"://"+u.Host+"/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("TE", "trailers")
	t := &http.Transport{Protocols: new(http.Protocols), TLSClientConfig: &tls.Config{InsecureSkipVerify: insecure}}
	t.Protocols.SetHTTP2(scheme == "https")
	t.Protocols.SetUnencryptedHTTP2(scheme == "http")
	defer t.CloseIdleConnections()
	answer, err := t.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return nil, err
	}
	status, text := answer.Trailer.Get("grpc-status"), answer.Trailer.Get("grpc-message")
	if status == "" {
		status, text = answer.Header.Get("grpc-status"), answer.Header.Get("grpc-message")
	}
	switch {
	case status == "12":
		return nil, errors.New("it has no server reflection")
	case status != "0":
		return nil, fmt.Errorf("gRPC status %s %s", status, text)
	case len(b) < 5 || uint32(len(b)-5) < binary.BigEndian.Uint32(b[1:]):
		return nil, errors.New("the answer is incomplete")
	}
	return filesOf(b[5 : 5+binary.BigEndian.Uint32(b[1:])])
}

var errMangled = errors.New("the answer is not a message of server reflection")

func filesOf(b []byte) (out [][]byte, err error) {
	inner, err := field(b, 4)
	if err != nil {
		return nil, err
	}
	if len(inner) == 0 {
		return nil, errors.New("it does not know the service")
	}
	return field(inner[0], 1)
}

// field returns the values of a field of bytes.
func field(b []byte, number protowire.Number) (out [][]byte, err error) {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil, errMangled
		}
		b = b[size:]
		if n == number && kind == protowire.BytesType {
			v, size := protowire.ConsumeBytes(b)
			if size < 0 {
				return nil, errMangled
			}
			out, b = append(out, v), b[size:]
			continue
		}
		if size = protowire.ConsumeFieldValue(n, kind, b); size < 0 {
			return nil, errMangled
		}
		b = b[size:]
	}
	return out, nil
}
