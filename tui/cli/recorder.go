package cli

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"shardpilot/control/record"
	"shardpilot/tui"
)

// ByKey lets a key of the screen begin and end recordings. Their files are named
// after the time and lie in the working directory or, where that cannot be
// written to, in shardpilot's directory of states.
func ByKey(r *record.Recorder, now func() time.Time) tui.Recorder { return &byKey{r, now} }

type byKey struct {
	r   *record.Recorder
	now func() time.Time
}

func (k *byKey) Recording() (on bool, failed error) {
	s := k.r.Status()
	return s.On, s.Err
}

func (k *byKey) Toggle() (string, error) {
	if s := k.r.Status(); s.On {
		if err := k.r.Stop(); err != nil {
			return "", err
		}
		return "recorded " + recordingWords(k.r.Status(), k.now()) + ", to " + s.File, nil
	}
	name := "shardpilot-" + k.now().UTC().Format("20060102T150405Z") + ".rec"
	var all []error
	for _, dir := range []string{".", stateDir()} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			all = append(all, err)
			continue
		}
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			path = filepath.Join(dir, name)
		}
		if err = k.r.Start(path); err == nil {
			return "recording to " + path + "; R ends it", nil
		}
		all = append(all, err)
	}
	return "", errors.Join(all...)
}

// stateDir is where programs keep what outlives them, "" when nothing says.
func stateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "shardpilot")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "shardpilot")
	}
	return ""
}
