package db

// secret are the keywords whose values nobody may see.
var secret = []string{"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}

// HasSecret says whether a connection string holds a password or another
// secret. One that cannot be read holds none: nobody will connect with it.
func HasSecret(connString string) bool {
	set, err := parseConninfo(connString)
	return err == nil && set.dropSecrets()
}

// Public is a connection string with the flags of opts in it and without its
// secrets. The service file and the environment are not asked.
func Public(connString string, opts Options) (string, error) {
	set, err := parseConninfo(connString)
	if err != nil {
		return "", badString(err.Error())
	}
	hidden := set.dropSecrets()
	if err := set.addFlags(opts); err != nil {
		return "", err
	}
	if !hidden && opts.Host+opts.Port+opts.User+opts.Database == "" {
		return connString, nil
	}
	return set.conninfo(), nil
}

// dropSecrets takes them out and says whether there were any.
func (s settings) dropSecrets() bool {
	dropped := false
	for _, key := range secret {
		dropped = dropped || s[key] != ""
		delete(s, key)
	}
	return dropped
}
