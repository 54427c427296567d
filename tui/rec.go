package tui

// watchRecorder takes in whether a recording is being made. One that ended by
// itself is told once.
func (m *Model) watchRecorder() {
	if m.opt.Recorder == nil {
		return
	}
	on, err := m.opt.Recorder.Recording()
	if err != nil && err != m.recErr { //nolint:errorlint // the same one, not the same kind
		m.say(cut(safe(err.Error(), m.g.ascii), 120, m.g.dots))
	}
	m.rec, m.recErr = on, err
}

// Toggled says what came of beginning or ending a recording.
func (m *Model) Toggled(words string, err error) {
	m.watchRecorder()
	if err != nil {
		words = "not recorded: " + err.Error()
	}
	m.say(cut(safe(words, m.g.ascii), 120, m.g.dots))
	m.draw()
}

// recParts say that a recording is being made, or that one broke off.
func (m *Model) recParts() []part {
	switch {
	case m.rec:
		return []part{{badge(roleBanner, "REC"), 0}}
	case m.recErr != nil:
		return []part{{text(roleWarn, m.g.warn+" recording stopped"), 1}}
	}
	return nil
}
