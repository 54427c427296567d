package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"

	"shardpilot/control"
)

// logLevels are the values of --log-level.
var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// Logger writes to the log file, or to where without one, until done. Its error
// is a *control.Fault.
func (s Screen) Logger(where io.Writer) (log *slog.Logger, done func(), err error) {
	done = func() {}
	if s.LogFile != "" {
		// A named pipe that nobody reads is an error, not waited for.
		f, err := os.OpenFile(s.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0o600)
		if err != nil {
			return nil, nil, &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf("the log file cannot be opened: %v", err),
				Hint: "choose another with --log-file", Err: err}
		}
		where, done = f, func() { _ = f.Close() }
	}
	o := &slog.HandlerOptions{Level: logLevels[s.LogLevel]}
	if s.Verbose {
		o.Level = slog.LevelDebug
	}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(where, o)), done, nil
	}
	return slog.New(slog.NewTextHandler(where, o)), done, nil
}
