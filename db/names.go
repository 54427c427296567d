package db

import "github.com/jackc/pgx/v5"

// ident quotes one identifier, always: what is printed for an operator to paste
// must not depend on which words are reserved.
func ident(parts ...string) string { return pgx.Identifier(parts).Sanitize() }
