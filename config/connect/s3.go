package connect

// S3 says which object store to use, and as whom. The sources and sinks for
// objects embed it in their configurations.
type S3 struct {
	// URL of a store other than Amazon S3, such as http://127.0.0.1:9000.
	// Default: AWS_ENDPOINT_URL_S3 of the environment.
	Endpoint string `yaml:"endpoint"`
	// The region. Default: AWS_REGION of the environment, or what the store says.
	Region string `yaml:"region"`
	// The profile in the files of the AWS tools. If it is set, no other
	// identity is used. Default: the usual order, from AWS_ACCESS_KEY_ID of the
	// environment to the role of the instance.
	Profile string `yaml:"profile"`
	// Whether the bucket is always part of the path of a URL. By default, URLs
	// of Amazon and Google have the bucket in the host name.
	PathStyle bool `yaml:"path_style"`
	// Whether requests are sent without a signature, for public buckets.
	Anonymous bool `yaml:"anonymous"`
	// Whether you accept the costs of reading from a bucket whose requester pays.
	RequesterPays bool `yaml:"requester_pays"`
}
