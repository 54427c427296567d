package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"shardpilot/control"
)

// OTLP says where an OpenTelemetry collector is. Beside it the standard
// variables count, as the SDK reads them: OTEL_EXPORTER_OTLP_*, with METRICS_
// before the last word or without it, OTEL_METRIC_EXPORT_INTERVAL and _TIMEOUT,
// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
type OTLP struct {
	Endpoint string // base URL; "" leaves it to the variables, and sends nothing without them
	Instance string // service.instance.id: tells processes apart
	Log      *slog.Logger
}

// collector is where to push to.
type collector struct {
	shown    string // for people: no secrets
	options  []otlpmetrichttp.Option
	resource *resource.Resource
	secrets  []string // values of headers, which are in no log
	log      *slog.Logger
}

// variable is a setting of the exporter by its last word: that for metrics, or
// that for all signals.
func variable(word string) (name, value string) {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_METRICS_", "OTEL_EXPORTER_OTLP_"} {
		if v := strings.TrimSpace(os.Getenv(prefix + word)); v != "" {
			return prefix + word, v
		}
	}
	return "", ""
}

// collector finds out where to push to, nil for nowhere. What the SDK would
// take for something else, in silence, is a Fault; it never shows a header.
func (o OTLP) collector(version string) (*collector, error) {
	off := strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_METRICS_EXPORTER") == "none"
	from, endpoint := "--otlp-endpoint", o.Endpoint
	if endpoint == "" && !off {
		from, endpoint = variable("ENDPOINT")
	}
	if endpoint == "" {
		return nil, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, badOTLP(from+" is no address of a collector", "it is a URL without user and query, for instance http://127.0.0.1:4318; what proves who we are goes into OTEL_EXPORTER_OTLP_HEADERS")
	}
	if !strings.Contains(from, "METRICS") {
		u = u.JoinPath("v1", "metrics")
	}
	c := &collector{shown: u.String(), options: []otlpmetrichttp.Option{otlpmetrichttp.WithEndpointURL(u.String())}, log: o.Log}
	if name, v := variable("PROTOCOL"); v != "" && v != "http/protobuf" {
		return nil, badOTLP(fmt.Sprintf("%s is %q", name, v), "only http/protobuf is spoken here; collectors take it at port 4318")
	}
	if name, v := variable("HEADERS"); v != "" {
		if c.secrets, err = secrets(v); err != nil {
			return nil, badOTLP(name+" cannot be read", "it is name=value, with commas between them, and %xx for what is special in a value")
		}
	}
	times := []string{"OTEL_METRIC_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_TIMEOUT"}
	if name, _ := variable("TIMEOUT"); name != "" {
		times = append(times, name)
	}
	for _, name := range times {
		if v := os.Getenv(name); v != "" {
			if ms, err := strconv.Atoi(v); err != nil || ms <= 0 {
				return nil, badOTLP(fmt.Sprintf("%s is %q", name, v), "it is a number of milliseconds above 0")
			}
		}
	}
	c.resource, err = resource.New(context.Background(), resource.WithAttributes(attribute.String("service.name", "shardpilot"),
		attribute.String("service.version", version), attribute.String("service.instance.id", o.Instance)), resource.WithFromEnv())
	if err != nil {
		return nil, badOTLP("OTEL_RESOURCE_ATTRIBUTES cannot be read", "it is name=value, with commas between them")
	}
	return c, nil
}

// secrets are the values of headers, as they are written and as they are sent.
func secrets(headers string) (list []string, err error) {
	for pair := range strings.SplitSeq(headers, ",") {
		name, v, found := strings.Cut(pair, "=")
		sent, err := url.PathUnescape(v)
		if !found || strings.TrimSpace(name) == "" || err != nil {
			return nil, errors.New("no header")
		}
		for _, s := range []string{sent, v} {
			if s = strings.TrimSpace(s); s != "" {
				list = append(list, s)
			}
		}
	}
	return list, nil
}

func badOTLP(what, hint string) error {
	return &control.Fault{Kind: control.FaultUsage, What: what, Hint: hint}
}

// push sends what the page shows to a collector, again and again, and once more
// when ctx ends. It is a reader of its own, so that nobody waits for a
// collector; a collector that is away is no failure.
func (m *Metrics) push(ctx context.Context, c *collector) error {
	// What the SDK says by itself has no place to go to: the screen may be up,
	// and complaints about a variable show its value.
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { c.log.Debug("metrics", "error", c.without(err)) }))
	exporter, err := otlpmetrichttp.New(ctx, c.options...)
	if err != nil {
		return badOTLP("metrics cannot be sent to "+c.shown+": "+c.without(err), "look at the variables OTEL_EXPORTER_OTLP_*")
	}
	reader := sdk.NewPeriodicReader(&reported{Exporter: exporter, to: c},
		sdk.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(m.registry))))
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(c.resource))
	<-ctx.Done()
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = provider.Shutdown(bye) // what went wrong has been logged
	return nil
}

// without is what an error says, without the headers, which a collector may
// send back, and not at any length.
func (c *collector) without(err error) string {
	text := err.Error()
	for _, s := range c.secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text[:min(len(text), 500)]
}

// reported is an exporter whose outages get into the log, once each.
type reported struct {
	sdk.Exporter
	to *collector

	mu   sync.Mutex
	down bool
}

// Export sends, and keeps what went wrong to itself and the log.
func (r *reported) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	err := r.Exporter.Export(ctx, all)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled):
		return nil // the end came in between; there is one more to come
	case err != nil && !r.down:
		r.to.log.Warn("metrics are not sent", "to", r.to.shown, "error", r.to.without(err))
	case err == nil && r.down:
		r.to.log.Info("metrics are sent again", "to", r.to.shown)
	}
	r.down = err != nil
	return nil
}
