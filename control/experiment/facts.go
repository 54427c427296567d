package experiment

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// MachineFacts say what this machine is and how busy, as far as it tells.
func MachineFacts() []Fact {
	machine := fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if model := valueIn("/proc/cpuinfo", "model name"); model != "" {
		machine += ", " + model
	}
	if memory := valueIn("/proc/meminfo", "MemTotal"); memory != "" {
		machine += ", memory " + memory
	}
	facts := []Fact{{"Machine", machine}}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		if words := strings.Fields(string(load)); len(words) >= 3 {
			facts = append(facts, Fact{"Load average before", strings.Join(words[:3], " ")})
		}
	}
	return facts
}

// valueIn is what a file of the system says after a word and a colon, "" when it
// does not.
func valueIn(file, word string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == word {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
