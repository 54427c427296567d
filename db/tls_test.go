package db

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

// authority makes a certificate that signs itself, for the names given, and
// the file with its root.
func authority(t *testing.T, names ...string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	root := write(t, filepath.Join(t.TempDir(), "root.crt"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), 0o600)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, root
}

// tlsFront is PostgreSQL behind a proxy that speaks TLS for it.
func tlsFront(t *testing.T, server string, cert tls.Certificate) string {
	t.Helper()
	return serving(t, func(c net.Conn) {
		request := make([]byte, 8)
		if _, err := io.ReadFull(c, request); err != nil || binary.BigEndian.Uint32(request[4:]) != 80877103 {
			return
		}
		if _, err := c.Write([]byte("S")); err != nil {
			return
		}
		secure := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}})
		if secure.Handshake() != nil {
			return
		}
		back, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer func() { _ = back.Close() }()
		done := make(chan struct{})
		go func() { defer close(done); _, _ = io.Copy(back, secure); _ = back.Close() }()
		_, _ = io.Copy(secure, back)
		_ = secure.Close()
		<-done
	})
}

func TestVerifyFullTrustsOnlyTheRightNameFromTheRightAuthority(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	good, root := authority(t, "localhost")
	wrong, wrongRoot := authority(t, "elsewhere.example")
	at := func(cert tls.Certificate, mode, root string) string {
		_, port, err := net.SplitHostPort(tlsFront(t, u.Host, cert))
		if err != nil {
			t.Fatal(err)
		}
		v := *u
		v.Host = "localhost:" + port
		v.RawQuery = url.Values{"sslmode": {mode}, "sslrootcert": {root}, "hostaddr": {"127.0.0.1"}}.Encode()
		return v.String()
	}
	conn := connectTo(t, at(good, "verify-full", root), Options{})
	if scan[int](t, conn, "SELECT 1") != 1 {
		t.Error("no answer")
	}
	connectTo(t, at(wrong, "verify-ca", wrongRoot), Options{})

	for name, s := range map[string]string{
		"another name":                   at(wrong, "verify-full", wrongRoot),
		"another authority":              at(good, "verify-full", wrongRoot),
		"another authority by verify-ca": at(good, "verify-ca", wrongRoot),
	} {
		err := connectErr(t, s)
		wantFault(t, err, control.FaultNoConnection, "TLS with", "verify-full")
		if !Fatal(err) {
			t.Errorf("%s: would be tried again", name)
		}
		if strings.Contains(err.Error(), u.User.String()) {
			t.Error("holds the password")
		}
	}
}
