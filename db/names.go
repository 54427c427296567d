package db

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// ident quotes one identifier, always: what is printed for an operator to paste
// must not depend on which words are reserved.
func ident(parts ...string) string { return pgx.Identifier(parts).Sanitize() }

// literal quotes a string for a statement that is printed, never for one that
// is run: those bind.
func literal(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return " E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}
