package record

// jsonLog describes a format whose records are JSON objects with fields of
// known names. Each list holds alternatives in the syntax of Config.URLField;
// the first field with a value is used.
type jsonLog struct {
	name string
	// landmarks are the fields that a record must have: one of each list.
	landmarks [][]string
	// wrapped is the name of the member that holds an array of records, if the
	// format can have several of them in one line.
	wrapped string
	// plain is set if the scheme is http unless the record says otherwise.
	plain bool
	// foreign begins the first parameter of a query that the server made up.
	foreign string
	parts   []jsonPart
	// about says where the log comes from, doc is the address of its reference,
	// and note says what a reader of the documentation must know besides.
	about, doc, note string
}

// jsonPart names the fields that may hold a part of the request.
type jsonPart struct {
	part   part
	unit   int8 // of a duration; see attr.unit and msUnlessDecimal
	fields []string
}

// msUnlessDecimal is the unit of durations that are seconds if they have a
// decimal point, and milliseconds otherwise.
const msUnlessDecimal = -2

// Parts of a record that are attributes.
const (
	partTime      = partAttr + part(attrTime)
	partStatus    = partAttr + part(attrStatus)
	partBytes     = partAttr + part(attrBytes)
	partDuration  = partAttr + part(attrDuration)
	partClient    = partAttr + part(attrClient)
	partAgent     = partAttr + part(attrAgent)
	partRequestID = partAttr + part(attrRequestID)
)

// jsonLogs holds the formats in the order in which they are listed. In
// detection, the first one of several fitting formats wins, so that those with
// fewer landmarks are last.
var jsonLogs = []jsonLog{
	{
		name: "caddy", about: "Caddy's access log", doc: "https://caddyserver.com/docs/logging",
		note:      "A member `request.tls` means that the scheme is https. Lines of other loggers have no URL and pass through. The header values are those of the first header with the name.",
		landmarks: [][]string{{"request.method"}, {"request.uri"}, {"request.proto"}},
		parts: []jsonPart{
			{partTarget, 0, []string{"request.uri"}},
			{partHost, 0, []string{"request.host"}},
			{partSecure, 0, []string{"request.tls"}},
			{partMethod, 0, []string{"request.method"}},
			{partReferer, 0, []string{"request.headers.Referer[0]"}},
			{partTime, 0, []string{"ts"}},
			{partStatus, 0, []string{"status"}},
			{partBytes, 0, []string{"size"}},
			{partDuration, 0, []string{"duration"}},
			{partClient, 0, []string{"request.client_ip", "request.remote_ip", "request.remote_addr"}},
			{partAgent, 0, []string{"request.headers.User-Agent[0]"}},
			{partRequestID, 0, []string{"uuid", "request.headers.X-Request-Id[0]"}},
		},
	},
	{
		name: "traefik", about: "Traefik's access log with `format: json`", doc: "https://doc.traefik.io/traefik/observability/access-logs/",
		note:      "Traefik logs the headers only if its configuration keeps them. The fields `RequestAddr` and `RequestLine` of older versions repeat parts of the URL; `rewrite` leaves them as they are.",
		landmarks: [][]string{{"RequestPath"}, {"RequestMethod", "RequestHost", "RequestAddr"}},
		parts: []jsonPart{
			{partTarget, 0, []string{"RequestPath"}},
			{partScheme, 0, []string{"RequestScheme"}},
			{partHost, 0, []string{"RequestHost", "RequestAddr"}},
			{partPort, 0, []string{"RequestPort"}},
			{partMethod, 0, []string{"RequestMethod"}},
			{partReferer, 0, []string{"request_Referer"}},
			{partTime, 0, []string{"StartUTC", "StartLocal", "time"}},
			{partStatus, 0, []string{"DownstreamStatus"}},
			{partBytes, 0, []string{"DownstreamContentSize"}},
			{partDuration, 9, []string{"Duration"}},
			{partClient, 0, []string{"ClientHost", "ClientAddr"}},
			{partAgent, 0, []string{"request_User-Agent"}},
			{partRequestID, 0, []string{"request_X-Request-Id", "TraceId"}},
		},
	},
	{
		name: "envoy-json", about: "JSON access logs of Envoy, Istio and Envoy Gateway", doc: "https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage",
		note:      "The names of the fields are up to the configuration of Envoy. These are the names of Istio, of Envoy Gateway, and those that the documentation of Envoy uses.",
		landmarks: [][]string{{"response_flags", "downstream_remote_address", "upstream_host", "upstream_cluster"}, envoyPaths, {"method", ":method"}},
		parts: []jsonPart{
			{partTarget, 0, envoyPaths},
			{partScheme, 0, []string{"scheme", ":scheme", "x_forwarded_proto", "x-forwarded-proto"}},
			{partHost, 0, []string{"authority", ":authority"}},
			{partMethod, 0, []string{"method", ":method"}},
			{partReferer, 0, []string{"referer", "referrer"}},
			{partTime, 0, []string{"start_time", "timestamp"}},
			{partStatus, 0, []string{"response_code", "status"}},
			{partBytes, 0, []string{"bytes_sent"}},
			{partDuration, 3, []string{"duration"}},
			{partClient, 0, []string{"x_forwarded_for", "x-forwarded-for", "downstream_remote_address"}},
			{partAgent, 0, []string{"user_agent", "user-agent"}},
			{partRequestID, 0, []string{"request_id", "x_request_id", "x-request-id"}},
		},
	},
	{
		name: "gcp-lb", about: "request logs of Google Cloud load balancers", doc: "https://cloud.google.com/load-balancing/docs/https/https-logging-monitoring",
		note:      "Records of other services pass through without a URL, unless they have the field `httpRequest.requestUrl`.",
		landmarks: [][]string{{"httpRequest.requestUrl"}, {"httpRequest.requestMethod"}},
		parts: []jsonPart{
			{partTarget, 0, []string{"httpRequest.requestUrl"}},
			{partMethod, 0, []string{"httpRequest.requestMethod"}},
			{partReferer, 0, []string{"httpRequest.referer"}},
			{partTime, 0, []string{"timestamp"}},
			{partStatus, 0, []string{"httpRequest.status"}},
			{partBytes, 0, []string{"httpRequest.responseSize"}},
			{partDuration, noUnit, []string{"httpRequest.latency"}},
			{partClient, 0, []string{"httpRequest.remoteIp"}},
			{partAgent, 0, []string{"httpRequest.userAgent"}},
			{partRequestID, 0, []string{"insertId"}},
		},
	},
	{
		name: "azure-front-door", about: "access logs of Azure Front Door and of Azure CDN from Microsoft", doc: "https://learn.microsoft.com/azure/frontdoor/monitor-front-door-reference",
		note:      "Records of other categories pass through without a URL.",
		landmarks: [][]string{{"properties.requestUri"}, {"properties.trackingReference"}},
		wrapped:   "records",
		parts: []jsonPart{
			{partTarget, 0, []string{"properties.requestUri"}},
			{partHost, 0, []string{"properties.hostName"}},
			{partMethod, 0, []string{"properties.httpMethod"}},
			{partReferer, 0, []string{"properties.referer", "properties.referrer"}},
			{partTime, 0, []string{"time"}},
			{partStatus, 0, []string{"properties.httpStatusCode"}},
			{partBytes, 0, []string{"properties.responseBytes"}},
			{partDuration, 0, []string{"properties.timeTaken"}},
			{partClient, 0, []string{"properties.clientIp"}},
			{partAgent, 0, []string{"properties.userAgent"}},
			{partRequestID, 0, []string{"properties.trackingReference"}},
		},
	},
	{
		name: "azure-app-gateway", about: "access logs of Azure Application Gateway, v1 and v2", doc: "https://learn.microsoft.com/azure/application-gateway/monitor-application-gateway-reference",
		note:      "`originalRequestUriWithArgs` is the target before the gateway rewrites it; older records lack it. `requestQuery` of v1 gateways holds routing data, which begins with `X-AzureApplicationGateway-`; urlfold ignores such a query. The record does not tell the scheme, so set it with `--base https://{host}/`. `timeTaken` is in milliseconds if it has no decimal point, which is so for v1, and in seconds otherwise.",
		landmarks: [][]string{{"properties.requestUri"}, {"properties.httpMethod"}, {"properties.httpStatus"}},
		wrapped:   "records",
		foreign:   "X-AzureApplicationGateway-",
		parts: []jsonPart{
			{partTarget, 0, []string{"properties.originalRequestUriWithArgs"}},
			{partPath, 0, []string{"properties.requestUri"}},
			{partQuery, 0, []string{"properties.requestQuery"}},
			{partHost, 0, []string{"properties.originalHost", "properties.host", "properties.hostname"}},
			{partMethod, 0, []string{"properties.httpMethod"}},
			{partTime, 0, []string{"timeStamp", "time", "timestamp"}},
			{partStatus, 0, []string{"properties.httpStatus"}},
			{partBytes, 0, []string{"properties.sentBytes"}},
			{partDuration, msUnlessDecimal, []string{"properties.timeTaken"}},
			{partClient, 0, []string{"properties.clientIP"}},
			{partAgent, 0, []string{"properties.userAgent"}},
			{partRequestID, 0, []string{"properties.transactionId"}},
		},
	},
	{
		name: "cloudflare", about: "HTTP requests and firewall events of Cloudflare Logpush", doc: "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/",
		note:      "The fields are those that the Logpush job selects. Without `ClientRequestURI`, the path is `ClientRequestPath` and the query is `ClientRequestQuery`, which only firewall events have. Logpush has no field for the duration of a request.",
		landmarks: [][]string{{"ClientRequestURI", "ClientRequestPath"}, {"ClientRequestHost", "RayID", "EdgeStartTimestamp"}},
		parts: []jsonPart{
			{partTarget, 0, []string{"ClientRequestURI"}},
			{partPath, 0, []string{"ClientRequestPath"}},
			{partQuery, 0, []string{"ClientRequestQuery"}},
			{partScheme, 0, []string{"ClientRequestScheme"}},
			{partHost, 0, []string{"ClientRequestHost"}},
			{partMethod, 0, []string{"ClientRequestMethod"}},
			{partReferer, 0, []string{"ClientRequestReferer"}},
			{partTime, 0, []string{"EdgeStartTimestamp", "Datetime"}},
			{partStatus, 0, []string{"EdgeResponseStatus"}},
			{partBytes, 0, []string{"EdgeResponseBytes"}},
			{partClient, 0, []string{"ClientIP"}},
			{partAgent, 0, []string{"ClientRequestUserAgent"}},
			{partRequestID, 0, []string{"RayID"}},
		},
	},
	{
		name: "suricata-eve", about: "Suricata's eve.json", doc: "https://docs.suricata.io/en/latest/output/eve/eve-json-format.html",
		note:      "Events of other types pass through without a URL. The scheme is http, because Suricata sees only decrypted traffic.",
		landmarks: [][]string{{"event_type"}, {"timestamp"}, {"src_ip"}},
		plain:     true,
		parts: []jsonPart{
			{partTarget, 0, []string{"http.url"}},
			{partHost, 0, []string{"http.hostname"}},
			{partPort, 0, []string{"http.http_port"}},
			{partMethod, 0, []string{"http.http_method"}},
			{partReferer, 0, []string{"http.http_refer"}},
			{partTime, 0, []string{"timestamp"}},
			{partStatus, 0, []string{"http.status"}},
			{partBytes, 0, []string{"http.length"}},
			{partClient, 0, []string{"src_ip"}},
			{partAgent, 0, []string{"http.http_user_agent"}},
			{partRequestID, 0, []string{"flow_id"}},
		},
	},
	{
		name: "zeek-json", about: "Zeek's http.log in JSON", doc: "https://docs.zeek.org/en/master/logs/http.html",
		note:      "Zeek percent-decodes `uri`. The scheme is http. Zeek up to 4.0 removes the port from `host`.",
		landmarks: [][]string{{`"id.orig_h"`, "id.orig_h", "id_orig_h"}, {"trans_depth"}},
		plain:     true,
		parts: []jsonPart{
			{partTarget, 0, []string{"uri"}},
			{partHost, 0, []string{"host"}},
			{partMethod, 0, []string{"method"}},
			{partReferer, 0, []string{"referrer"}},
			{partTime, 0, []string{"ts"}},
			{partStatus, 0, []string{"status_code"}},
			{partBytes, 0, []string{"response_body_len"}},
			{partClient, 0, []string{`"id.orig_h"`, "id.orig_h", "id_orig_h"}},
			{partAgent, 0, []string{"user_agent"}},
			{partRequestID, 0, []string{"uid"}},
		},
	},
	{
		name: "nginx-json", about: "nginx logs with `escape=json` and the usual names", doc: "https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format",
		note:      "The names of the fields are up to the `log_format`. These are the names of the usual layouts, and other servers that use them are read too. A `request` that is only a method, as in logs of Fastly, or only a request target is read as such. `uri` is percent-decoded by nginx, so it is the last choice. Only one of the fields with the URL is rewritten.",
		landmarks: [][]string{{"request_uri", "request", "uri", "url", "path"}, {"status", "response_status", "response_code"}, {"remote_addr", "remote_ip", "client_ip", "clientip", "ip", "http_x_forwarded_for", "x_forwarded_for"}},
		parts: []jsonPart{
			{partTarget, 0, []string{"request_uri"}},
			{partRequest, 0, []string{"request"}},
			{partPath, 0, []string{"uri", "url", "path", "request_path"}},
			{partQuery, 0, []string{"args", "query_string", "query", "request_query"}},
			{partScheme, 0, []string{"scheme", "request_scheme", "http_x_forwarded_proto"}},
			{partSecure, 0, []string{"https", "is_tls"}},
			{partHost, 0, []string{"http_host", "host", "vhost", "domain", "server_name"}},
			{partPort, 0, []string{"server_port"}},
			{partMethod, 0, []string{"request_method", "method", "http_method", "httpMethod", "verb"}},
			{partReferer, 0, []string{"http_referer", "http_referrer", "referer", "referrer", "request_referer"}},
			{partTime, 0, []string{"time_iso8601", "msec", "time_local", "time", "timestamp", "@timestamp", "ts", "date", "time_start", "requestTime"}},
			{partStatus, 0, []string{"status", "response_status", "response_code"}},
			{partBytes, 0, []string{"body_bytes_sent", "bytes_sent", "bytes", "size", "length", "bytes_out", "written_bytes", "response_body_size", "responseLength"}},
			{partDuration, 0, []string{"request_time", "duration", "responsetime", "response_time"}},
			{partClient, 0, []string{"remote_addr", "remote_ip", "client_ip", "clientip", "ip"}},
			{partAgent, 0, []string{"http_user_agent", "user_agent", "agent", "useragent", "request_user_agent", "ua"}},
			{partRequestID, 0, []string{"request_id", "req_id", "http_x_request_id", "requestId"}},
		},
	},
}

// envoyPaths are the usual names of the request target in logs of Envoy, whose
// names are up to its configuration.
var envoyPaths = []string{
	"x_envoy_original_path", "x-envoy-original-path", "x_envoy_origin_path", "x-envoy-origin-path", "path", ":path",
}
