package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	pushed "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	otlp "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"shardpilot/control"
	"shardpilot/probe/notify"
)

// journal is a log that can be read while it is written.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// pushing runs an exposition that pushes often, until stop. Events go in.
func pushing(t *testing.T, endpoint string) (x *Exposition, events chan<- control.Event, log *journal, stop func()) {
	t.Helper()
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
	log = &journal{}
	x, err := Expose(Addresses{Push: &OTLP{Endpoint: endpoint, Instance: "ada@bastion[7]", Log: slog.New(slog.NewTextHandler(log, nil))}},
		Options{TopQueues: 3, Version: "v1.2.3", GoVersion: "go1", Now: newClock().now}, notify.Notifier{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	in, ended := make(chan control.Event), make(chan error, 1)
	go func() { ended <- x.Run(ctx, in) }()
	stop = sync.OnceFunc(func() {
		cancel()
		close(in)
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("a collector holds up the end")
		}
	})
	t.Cleanup(stop)
	return x, in, log, stop
}

// awaited waits for a condition that others bring about.
func awaited(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s, after %v still not", what, patience)
		}
	}
}

// points are the samples of a request as scraped lists them.
func points(t *testing.T, req *pushed.ExportMetricsServiceRequest) samples {
	t.Helper()
	out := samples{}
	for _, r := range req.GetResourceMetrics() {
		for _, s := range r.GetScopeMetrics() {
			for _, m := range s.GetMetrics() {
				list := m.GetGauge().GetDataPoints()
				if sum := m.GetSum(); sum != nil {
					if list = sum.GetDataPoints(); !sum.GetIsMonotonic() || sum.GetAggregationTemporality() != otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
						t.Errorf("%s is no counter", m.GetName())
					}
				}
				for _, p := range list {
					var labels []string
					for _, a := range p.GetAttributes() {
						labels = append(labels, fmt.Sprintf("%s=%q", a.GetKey(), a.GetValue().GetStringValue()))
					}
					key := m.GetName()
					if len(labels) > 0 {
						key += "{" + strings.Join(labels, ",") + "}"
					}
					out[key] = p.GetAsDouble()
				}
			}
		}
	}
	return out
}

func TestACollectorGetsWhatAScrapeGets(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret,tenant=blue")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod")
	got := make(chan *pushed.ExportMetricsServiceRequest, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		req := &pushed.ExportMetricsServiceRequest{}
		if err == nil {
			err = proto.Unmarshal(body, req)
		}
		if err != nil || r.URL.Path != "/v1/metrics" || r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("Tenant") != "blue" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%v, %s %v", err, r.URL, r.Header)
		}
		select {
		case got <- req:
		default:
		}
	}))
	defer srv.Close()
	x, events, log, stop := pushing(t, srv.URL)
	events <- newClock().full("orders")
	var page, sent samples
	var req *pushed.ExportMetricsServiceRequest
	awaited(t, "a push that says what a scrape says", func() bool {
		req = <-got
		page, sent = scraped(t, x.metrics), points(t, req)
		if sent["go_goroutines"] == 0 || sent["process_resident_memory_bytes"] == 0 {
			t.Error("the push does not tell of the process")
		}
		maps.DeleteFunc(sent, func(name string, _ float64) bool {
			return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")
		})
		return maps.Equal(page, sent)
	})
	if len(page) < 50 {
		t.Errorf("only %d samples", len(page))
	}
	attributes := map[string]string{}
	for _, a := range req.GetResourceMetrics()[0].GetResource().GetAttributes() {
		attributes[a.GetKey()] = a.GetValue().GetStringValue()
	}
	want := map[string]string{"service.name": "shardpilot", "service.version": "v1.2.3", "service.instance.id": "ada@bastion[7]", "deployment.environment.name": "prod"}
	if !maps.Equal(attributes, want) {
		t.Errorf("the resource is %v, want %v", attributes, want)
	}
	stop()
	if log.String() != "" {
		t.Errorf("the log says %s", log)
	}
}

func TestAnOutageOfACollectorIsLoggedOnceAndWithoutSecrets(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s3cret%21")
	var mu sync.Mutex
	broken, asked := true, 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		if broken {
			http.Error(w, "who is "+r.Header.Get("Api-Key")+" or s3cret%21?", http.StatusForbidden)
		}
	}))
	defer srv.Close()
	times := func() int { mu.Lock(); defer mu.Unlock(); return asked }
	_, _, log, stop := pushing(t, srv.URL)
	for range 2 {
		was := times()
		awaited(t, "pushes that fail", func() bool { return times() > was+2 })
		mu.Lock()
		broken = false
		mu.Unlock()
		before := strings.Count(log.String(), "sent again")
		awaited(t, "a push that gets through", func() bool { return strings.Count(log.String(), "sent again") > before })
		mu.Lock()
		broken = true
		mu.Unlock()
	}
	mu.Lock()
	broken = false
	mu.Unlock()
	stop()
	if n := strings.Count(log.String(), "not sent"); n < 2 || n > 3 || strings.Contains(log.String(), "s3cret") || !strings.Contains(log.String(), "who is *** or ***?") {
		t.Errorf("%d outages, two or three were, in the log:\n%s", n, log)
	}
}

func TestACollectorThatNeverAnswersHoldsUpNothing(t *testing.T) {
	entered, release := make(chan struct{}, 100), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(release)
	x, events, _, stop := pushing(t, srv.URL)
	<-entered
	c := newClock()
	for range 20 {
		events <- c.full("orders") // nobody takes it while Observe waits
	}
	awaited(t, "a scrape that counts them", func() bool { return scraped(t, x.metrics)["shardpilot_snapshots_total"] == 20 })
	stop()
}

func TestNothingIsPushedUnlessConfigured(t *testing.T) {
	said := func(o OTLP) *collector {
		c, err := o.collector("v1")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if said(OTLP{}) != nil {
		t.Error("it pushes without an endpoint")
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/base/")
	if c := said(OTLP{}); c == nil || c.shown != "http://127.0.0.1:4318/base/v1/metrics" {
		t.Errorf("%+v", c)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://otel.example/x")
	if c := said(OTLP{}); c == nil || c.shown != "https://otel.example/x" {
		t.Errorf("%+v", c)
	}
	if c := said(OTLP{Endpoint: "http://flag:4318"}); c == nil || c.shown != "http://flag:4318/v1/metrics" {
		t.Errorf("%+v", c)
	}
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	if said(OTLP{}) != nil {
		t.Error("it pushes though the environment says no")
	}
}

func TestWhatTheExporterWouldMisreadIsRefused(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "api-key:s3cret", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s",
		"OTEL_METRIC_EXPORT_INTERVAL": "1m", "OTEL_METRIC_EXPORT_TIMEOUT": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318",
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://user:s3cret@collector", "OTEL_RESOURCE_ATTRIBUTES": "nonsense",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
			t.Setenv(name, value)
			_, err := Expose(Addresses{Push: &OTLP{}}, Options{Now: time.Now}, notify.Notifier{})
			if f := fault(t, err); f.Kind != control.FaultUsage || !strings.Contains(f.What, name) || f.Hint == "" || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v", err)
			}
		})
	}
}

func fault(t *testing.T, err error) *control.Fault {
	t.Helper()
	var f *control.Fault
	if !errors.As(err, &f) {
		t.Fatalf("%v is no fault", err)
	}
	return f
}
