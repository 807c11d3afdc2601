#fingerprint	id	url
