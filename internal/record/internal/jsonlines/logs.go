package jsonlines

import (
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Log describes a format whose records are JSON objects with fields of
// known names. Each list holds alternatives in the syntax of Config.URLField;
// the first field with a value is used.
type Log struct {
	ID string
	// Landmarks are the fields that a record must have: one of each list.
	Landmarks [][]string
	// Wrapped is the name of the member that holds an array of records, if the
	// format can have several of them in one line.
	Wrapped string
	// plain is set if the scheme is http unless the record says otherwise.
	plain bool
	// whole is set if a URL in the part UseURL may lack its scheme.
	whole bool
	// foreign begins the first parameter of a query that the server made up.
	foreign string
	Parts   []Part
	// About says where the log comes from, doc is the address of its reference,
	// and note says what a reader of the documentation must know besides.
	About, Doc, Note string
}

// Logs holds the formats in the order in which they are listed. In
// detection, the first one of several fitting formats wins, so that those with
// fewer landmarks are last.
var Logs = []Log{
	{
		ID: "caddy", About: "Caddy's access log", Doc: "https://caddyserver.com/docs/logging",
		Note:      "A member `request.tls` means that the scheme is https. Lines of other loggers have no URL and pass through. Of several headers with one name, the first one counts.",
		Landmarks: [][]string{{"request.method"}, {"request.uri"}, {"request.proto"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"request.uri"}},
			{locate.UseHost, 0, []string{"request.host"}},
			{locate.UseTLS, 0, []string{"request.tls"}},
			{locate.UseMethod, 0, []string{"request.method"}},
			{locate.UseReferer, 0, []string{"request.headers.Referer[0]"}},
			{locate.UseTime, 0, []string{"ts"}},
			{locate.UseStatus, 0, []string{"status"}},
			{locate.UseBytes, 0, []string{"size"}},
			{locate.UseDuration, 0, []string{"duration"}},
			{locate.UseClient, 0, []string{"request.client_ip", "request.remote_ip", "request.remote_addr"}},
			{locate.UseAgent, 0, []string{"request.headers.User-Agent[0]"}},
			{locate.UseRequestID, 0, []string{"uuid", "request.headers.X-Request-Id[0]"}},
		},
	},
	{
		ID: "traefik", About: "Traefik's access log with `format: json`", Doc: "https://doc.traefik.io/traefik/observability/access-logs/",
		Note:      "Traefik logs the headers only if its configuration keeps them. The fields `RequestAddr` and `RequestLine` of older versions repeat parts of the URL; `rewrite` leaves them as they are.",
		Landmarks: [][]string{{"RequestPath"}, {"RequestMethod", "RequestHost", "RequestAddr"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"RequestPath"}},
			{locate.UseScheme, 0, []string{"RequestScheme"}},
			{locate.UseHost, 0, []string{"RequestHost", "RequestAddr"}},
			{locate.UsePort, 0, []string{"RequestPort"}},
			{locate.UseMethod, 0, []string{"RequestMethod"}},
			{locate.UseReferer, 0, []string{"request_Referer"}},
			{locate.UseTime, 0, []string{"StartUTC", "StartLocal", "time"}},
			{locate.UseStatus, 0, []string{"DownstreamStatus"}},
			{locate.UseBytes, 0, []string{"DownstreamContentSize"}},
			{locate.UseDuration, 9, []string{"Duration"}},
			{locate.UseClient, 0, []string{"ClientHost", "ClientAddr"}},
			{locate.UseAgent, 0, []string{"request_User-Agent"}},
			{locate.UseRequestID, 0, []string{"request_X-Request-Id", "TraceId"}},
		},
	},
	{
		ID: "envoy-json", About: "JSON access logs of Envoy, Istio and Envoy Gateway", Doc: "https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage",
		Note:      "The names of the fields are up to the configuration of Envoy. These are the names of Istio, Envoy Gateway, and the documentation of Envoy.",
		Landmarks: [][]string{{"response_flags", "downstream_remote_address", "upstream_host", "upstream_cluster"}, envoyPaths, {"method", ":method"}},
		Parts: []Part{
			{locate.UseTarget, 0, envoyPaths},
			{locate.UseScheme, 0, []string{"scheme", ":scheme", "x_forwarded_proto", "x-forwarded-proto"}},
			{locate.UseHost, 0, []string{"authority", ":authority"}},
			{locate.UseMethod, 0, []string{"method", ":method"}},
			{locate.UseReferer, 0, []string{"referer", "referrer"}},
			{locate.UseTime, 0, []string{"start_time", "timestamp"}},
			{locate.UseStatus, 0, []string{"response_code", "status"}},
			{locate.UseBytes, 0, []string{"bytes_sent"}},
			{locate.UseDuration, 3, []string{"duration"}},
			{locate.UseClient, 0, []string{"x_forwarded_for", "x-forwarded-for", "downstream_remote_address"}},
			{locate.UseAgent, 0, []string{"user_agent", "user-agent"}},
			{locate.UseRequestID, 0, []string{"request_id", "x_request_id", "x-request-id"}},
		},
	},
	{
		ID: "gcp-lb", About: "request logs of Google Cloud load balancers", Doc: "https://cloud.google.com/load-balancing/docs/https/https-logging-monitoring",
		Note:      "Records of other services pass through without a URL, unless they have the field `httpRequest.requestUrl`.",
		Landmarks: [][]string{{"httpRequest.requestUrl"}, {"httpRequest.requestMethod"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"httpRequest.requestUrl"}},
			{locate.UseMethod, 0, []string{"httpRequest.requestMethod"}},
			{locate.UseReferer, 0, []string{"httpRequest.referer"}},
			{locate.UseTime, 0, []string{"timestamp"}},
			{locate.UseStatus, 0, []string{"httpRequest.status"}},
			{locate.UseBytes, 0, []string{"httpRequest.responseSize"}},
			{locate.UseDuration, locate.NoUnit, []string{"httpRequest.latency"}},
			{locate.UseClient, 0, []string{"httpRequest.remoteIp"}},
			{locate.UseAgent, 0, []string{"httpRequest.userAgent"}},
			{locate.UseRequestID, 0, []string{"insertId"}},
		},
	},
	{
		ID: "azure-front-door", About: "access logs of Azure Front Door and of Azure CDN from Microsoft", Doc: "https://learn.microsoft.com/azure/frontdoor/monitor-front-door-reference",
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: [][]string{{"properties.requestUri"}, {"properties.trackingReference"}},
		Wrapped:   "records",
		Parts: []Part{
			{locate.UseTarget, 0, []string{"properties.requestUri"}},
			{locate.UseHost, 0, []string{"properties.hostName"}},
			{locate.UseMethod, 0, []string{"properties.httpMethod"}},
			{locate.UseReferer, 0, []string{"properties.referer", "properties.referrer"}},
			{locate.UseTime, 0, []string{"time"}},
			{locate.UseStatus, 0, []string{"properties.httpStatusCode"}},
			{locate.UseBytes, 0, []string{"properties.responseBytes"}},
			{locate.UseDuration, 0, []string{"properties.timeTaken"}},
			{locate.UseClient, 0, []string{"properties.clientIp"}},
			{locate.UseAgent, 0, []string{"properties.userAgent"}},
			{locate.UseRequestID, 0, []string{"properties.trackingReference"}},
		},
	},
	{
		ID: "azure-app-gateway", About: "access logs of Azure Application Gateway, v1 and v2", Doc: "https://learn.microsoft.com/azure/application-gateway/monitor-application-gateway-reference",
		Note:      "`originalRequestUriWithArgs` is the target before the gateway rewrites it; older records lack it. `requestQuery` of v1 gateways holds routing data, which starts with `X-AzureApplicationGateway-`; urlfold ignores that. The record does not tell the scheme, so set it with `--base https://{host}/`. `timeTaken` is in milliseconds without a decimal point, as in v1, and in seconds otherwise.",
		Landmarks: [][]string{{"properties.requestUri"}, {"properties.httpMethod"}, {"properties.httpStatus"}},
		Wrapped:   "records",
		foreign:   "X-AzureApplicationGateway-",
		Parts: []Part{
			{locate.UseTarget, 0, []string{"properties.originalRequestUriWithArgs"}},
			{locate.UsePath, 0, []string{"properties.requestUri"}},
			{locate.UseQuery, 0, []string{"properties.requestQuery"}},
			{locate.UseHost, 0, []string{"properties.originalHost", "properties.host", "properties.hostname"}},
			{locate.UseMethod, 0, []string{"properties.httpMethod"}},
			{locate.UseTime, 0, []string{"timeStamp", "time", "timestamp"}},
			{locate.UseStatus, 0, []string{"properties.httpStatus"}},
			{locate.UseBytes, 0, []string{"properties.sentBytes"}},
			{locate.UseDuration, locate.MsUnlessDecimal, []string{"properties.timeTaken"}},
			{locate.UseClient, 0, []string{"properties.clientIP"}},
			{locate.UseAgent, 0, []string{"properties.userAgent"}},
			{locate.UseRequestID, 0, []string{"properties.transactionId"}},
		},
	},
	{
		ID: "cloudflare", About: "HTTP requests and firewall events of Cloudflare Logpush", Doc: "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/",
		Note:      "The Logpush job selects the fields. Without `ClientRequestURI`, the path is `ClientRequestPath` and the query is `ClientRequestQuery`, which only firewall events have. Logpush has no field for the duration of a request.",
		Landmarks: [][]string{{"ClientRequestURI", "ClientRequestPath"}, {"ClientRequestHost", "RayID", "EdgeStartTimestamp"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"ClientRequestURI"}},
			{locate.UsePath, 0, []string{"ClientRequestPath"}},
			{locate.UseQuery, 0, []string{"ClientRequestQuery"}},
			{locate.UseScheme, 0, []string{"ClientRequestScheme"}},
			{locate.UseHost, 0, []string{"ClientRequestHost"}},
			{locate.UseMethod, 0, []string{"ClientRequestMethod"}},
			{locate.UseReferer, 0, []string{"ClientRequestReferer"}},
			{locate.UseTime, 0, []string{"EdgeStartTimestamp", "Datetime"}},
			{locate.UseStatus, 0, []string{"EdgeResponseStatus"}},
			{locate.UseBytes, 0, []string{"EdgeResponseBytes"}},
			{locate.UseClient, 0, []string{"ClientIP"}},
			{locate.UseAgent, 0, []string{"ClientRequestUserAgent"}},
			{locate.UseRequestID, 0, []string{"RayID"}},
		},
	},
	{
		ID: "suricata-eve", About: "Suricata's eve.json", Doc: "https://docs.suricata.io/en/latest/output/eve/eve-json-format.html",
		Note:      "Events of other types pass through without a URL. The scheme is http, because Suricata sees only decrypted traffic.",
		Landmarks: [][]string{{"event_type"}, {"timestamp"}, {"src_ip"}},
		plain:     true,
		Parts: []Part{
			{locate.UseTarget, 0, []string{"http.url"}},
			{locate.UseHost, 0, []string{"http.hostname"}},
			{locate.UsePort, 0, []string{"http.http_port"}},
			{locate.UseMethod, 0, []string{"http.http_method"}},
			{locate.UseReferer, 0, []string{"http.http_refer"}},
			{locate.UseTime, 0, []string{"timestamp"}},
			{locate.UseStatus, 0, []string{"http.status"}},
			{locate.UseBytes, 0, []string{"http.length"}},
			{locate.UseClient, 0, []string{"src_ip"}},
			{locate.UseAgent, 0, []string{"http.http_user_agent"}},
			{locate.UseRequestID, 0, []string{"flow_id"}},
		},
	},
	{
		ID: "zeek-json", About: "Zeek's http.log in JSON", Doc: "https://docs.zeek.org/en/master/logs/http.html",
		Note:      "Zeek percent-decodes `uri`. The scheme is http. Zeek up to 4.0 removes the port from `host`.",
		Landmarks: [][]string{{`"id.orig_h"`, "id.orig_h", "id_orig_h"}, {"trans_depth"}},
		plain:     true,
		Parts: []Part{
			{locate.UseTarget, 0, []string{"uri"}},
			{locate.UseHost, 0, []string{"host"}},
			{locate.UseMethod, 0, []string{"method"}},
			{locate.UseReferer, 0, []string{"referrer"}},
			{locate.UseTime, 0, []string{"ts"}},
			{locate.UseStatus, 0, []string{"status_code"}},
			{locate.UseBytes, 0, []string{"response_body_len"}},
			{locate.UseClient, 0, []string{`"id.orig_h"`, "id.orig_h", "id_orig_h"}},
			{locate.UseAgent, 0, []string{"user_agent"}},
			{locate.UseRequestID, 0, []string{"uid"}},
		},
	},
	{
		ID: "aws-waf", About: "AWS WAF's log of web ACL traffic", Doc: "https://docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html", // read 2026-11-29
		Note:      "Older records lack `httpRequest.host`; the header `Host` replaces it.",
		Landmarks: [][]string{{"webaclId"}, {"httpRequest.uri"}, {"httpRequest.httpMethod"}},
		Parts: []Part{
			{locate.UsePath, 0, []string{"httpRequest.uri"}},
			{locate.UseQuery, 0, []string{"httpRequest.args"}},
			{locate.UseScheme, 0, []string{"httpRequest.scheme"}},
			{locate.UseHost, 0, []string{"httpRequest.host", "httpRequest.headers[=Host]"}},
			{locate.UseMethod, 0, []string{"httpRequest.httpMethod"}},
			{locate.UseReferer, 0, []string{"httpRequest.headers[=Referer]"}},
			{locate.UseTime, 0, []string{"timestamp"}},
			{locate.UseStatus, 0, []string{"responseCodeSent"}},
			{locate.UseClient, 0, []string{"httpRequest.clientIp"}},
			{locate.UseAgent, 0, []string{"httpRequest.headers[=User-Agent]"}},
			{locate.UseRequestID, 0, []string{"httpRequest.requestId"}},
		},
	},
	{
		ID: "cloudfront-json", About: "CloudFront's standard logs (v2) and real-time logs in JSON", Doc: "https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logging.html", // read 2026-11-29
		Note:      "The delivery selects the fields. `x-host-header` is the site, `cs(Host)` the distribution. `date` and `time`, which are apart, are not read as the time.",
		Landmarks: [][]string{{"cs-uri-stem"}, {"cs-method", "sc-status"}, {"x-edge-location", "x-edge-request-id", "x-edge-result-type", "cs(Host)", "cs-host", "x-host-header"}},
		Parts: []Part{
			{locate.UsePath, 0, []string{"cs-uri-stem"}},
			{locate.UseQuery, 0, []string{"cs-uri-query"}},
			{locate.UseScheme, 0, []string{"cs-protocol"}},
			{locate.UseHost, 0, []string{"x-host-header", "cs(Host)", "cs-host"}},
			{locate.UseMethod, 0, []string{"cs-method"}},
			{locate.UseReferer, 0, []string{"cs(Referer)", "cs-referer"}},
			{locate.UseTime, 0, []string{"timestamp", "timestamp(ms)"}},
			{locate.UseStatus, 0, []string{"sc-status"}},
			{locate.UseBytes, 0, []string{"sc-bytes"}},
			{locate.UseDuration, 0, []string{"time-taken"}},
			{locate.UseClient, 0, []string{"c-ip"}},
			{locate.UseAgent, 0, []string{"cs(User-Agent)", "cs-user-agent"}},
			{locate.UseRequestID, 0, []string{"x-edge-request-id"}},
		},
	},
	{
		ID: "aws-cloudtrail", About: "events of AWS CloudTrail", Doc: "https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html", // read 2026-11-29
		Note:      "Only sign-ins to the console have a URL: the page that follows.",
		Landmarks: [][]string{{"eventSource"}, {"eventName"}, {"awsRegion"}, {"eventTime"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"additionalEventData.LoginTo"}},
			{locate.UseTime, 0, []string{"eventTime"}},
			{locate.UseClient, 0, []string{"sourceIPAddress"}},
			{locate.UseAgent, 0, []string{"userAgent"}},
			{locate.UseRequestID, 0, []string{"requestID", "eventID"}},
		},
	},
	{
		ID: "akamai-datastream", About: "Akamai DataStream 2 in JSON", Doc: "https://techdocs.akamai.com/datastream2/docs/data-set-parameters", // read 2026-11-29
		Note:      "The stream selects the fields. Akamai percent-encodes `UA` and the whole of `referer`, so urlfold does not read the referer as a URL.",
		Landmarks: [][]string{{"reqPath"}, {"reqHost", "cliIP"}, {"reqTimeSec", "reqId", "cp", "streamId"}},
		Parts: []Part{
			{locate.UsePath, 0, []string{"reqPath"}},
			{locate.UseQuery, 0, []string{"queryStr"}},
			{locate.UseHost, 0, []string{"reqHost"}},
			{locate.UsePort, 0, []string{"reqPort"}},
			{locate.UseMethod, 0, []string{"reqMethod"}},
			{locate.UseTime, 0, []string{"reqTimeSec"}},
			{locate.UseStatus, 0, []string{"statusCode"}},
			{locate.UseBytes, 0, []string{"bytes", "totalBytes"}},
			{locate.UseDuration, 3, []string{"transferTimeMSec"}},
			{locate.UseClient, 0, []string{"cliIP"}},
			{locate.UseAgent, 0, []string{"UA"}},
			{locate.UseRequestID, 0, []string{"reqId"}},
		},
	},
	{
		ID: "akamai-siem", About: "security events of Akamai's SIEM integration", Doc: "https://techdocs.akamai.com/siem-integration/reference/api", // read 2026-11-29
		Note:      "The offset at the end of an answer passes through without a URL. `requestHeaders` is one percent-encoded text, so the referer and the agent are not read.",
		Landmarks: [][]string{{"httpMessage.path"}, {"httpMessage.host"}, {"attackData.configId", "attackData.policyId", "attackData.clientIP"}},
		Parts: []Part{
			{locate.UsePath, 0, []string{"httpMessage.path"}},
			{locate.UseQuery, 0, []string{"httpMessage.query"}},
			{locate.UseHost, 0, []string{"httpMessage.host"}},
			{locate.UsePort, 0, []string{"httpMessage.port"}},
			{locate.UseMethod, 0, []string{"httpMessage.method"}},
			{locate.UseTime, 0, []string{"httpMessage.start"}},
			{locate.UseStatus, 0, []string{"httpMessage.status"}},
			{locate.UseBytes, 0, []string{"httpMessage.bytes"}},
			{locate.UseClient, 0, []string{"attackData.clientIP"}},
			{locate.UseRequestID, 0, []string{"httpMessage.requestId"}},
		},
	},
	{
		ID: "azure-storage", About: "resource logs of Azure Storage", Doc: "https://learn.microsoft.com/azure/storage/blobs/monitor-blob-storage-reference", // read 2026-11-29
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: [][]string{{"uri"}, {"operationName"}, {"callerIpAddress"}, {"properties.accountName", "properties.serviceType"}},
		Wrapped:   "records",
		Parts: []Part{
			{locate.UseTarget, 0, []string{"uri"}},
			{locate.UseReferer, 0, []string{"properties.referrerHeader"}},
			{locate.UseTime, 0, []string{"time"}},
			{locate.UseStatus, 0, []string{"statusCode"}},
			{locate.UseBytes, 0, []string{"properties.responseBodySize"}},
			{locate.UseDuration, 3, []string{"durationMs"}},
			{locate.UseClient, 0, []string{"callerIpAddress"}},
			{locate.UseAgent, 0, []string{"properties.userAgentHeader"}},
			{locate.UseRequestID, 0, []string{"correlationId"}},
		},
	},
	{
		ID: "azure-key-vault", About: "audit events of Azure Key Vault", Doc: "https://learn.microsoft.com/azure/key-vault/general/logging", // read 2026-11-29
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: [][]string{{"properties.requestUri"}, {"operationName"}, {"callerIpAddress"}},
		Wrapped:   "records",
		Parts: []Part{
			{locate.UseTarget, 0, []string{"properties.requestUri"}},
			{locate.UseTime, 0, []string{"time"}},
			{locate.UseStatus, 0, []string{"properties.httpStatusCode"}},
			{locate.UseDuration, 3, []string{"durationMs"}},
			{locate.UseClient, 0, []string{"callerIpAddress"}},
			{locate.UseAgent, 0, []string{"properties.clientInfo"}},
			{locate.UseRequestID, 0, []string{"correlationId"}},
		},
	},
	{
		ID: "kubernetes-audit", About: "audit events of the Kubernetes API server", Doc: "https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/", // read 2026-11-29
		Note:      "The record does not name the server: set it with `--base`. `verb` is an action of Kubernetes, not the method of the request.",
		Landmarks: [][]string{{"requestURI"}, {"verb"}, {"auditID"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"requestURI"}},
			{locate.UseTime, 0, []string{"requestReceivedTimestamp"}},
			{locate.UseStatus, 0, []string{"responseStatus.code"}},
			{locate.UseClient, 0, []string{"sourceIPs[0]"}},
			{locate.UseAgent, 0, []string{"userAgent"}},
			{locate.UseRequestID, 0, []string{"auditID"}},
		},
	},
	{
		ID: "cloudflare-gateway", About: "HTTP requests of Cloudflare Gateway, by Logpush", Doc: "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/account/gateway_http/", // read 2026-11-29
		Note:      "The Logpush job selects the fields.",
		Landmarks: [][]string{{"URL"}, {"HTTPMethod", "HTTPHost"}, {"SourceIP", "DeviceID", "PolicyID", "Datetime"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"URL"}},
			{locate.UseMethod, 0, []string{"HTTPMethod"}},
			{locate.UseReferer, 0, []string{"Referer"}},
			{locate.UseTime, 0, []string{"Datetime"}},
			{locate.UseStatus, 0, []string{"HTTPStatusCode"}},
			{locate.UseClient, 0, []string{"SourceIP"}},
			{locate.UseAgent, 0, []string{"UserAgent"}},
			{locate.UseRequestID, 0, []string{"RequestID"}},
		},
	},
	{
		ID: "zscaler", About: "web logs of Zscaler's Nanolog Streaming Service in JSON", Doc: "https://help.zscaler.com/zia/nss-feed-output-format-web-logs", // read 2026-11-29
		Note:      "The names of the fields are up to the feed; these are the usual ones. Zscaler writes URLs without a scheme.",
		Landmarks: [][]string{{"event.url"}, {"event.requestmethod", "event.reqmethod", "event.hostname"}, {"event.urlcategory", "event.serverip", "event.ClientIP", "event.urlclass"}},
		whole:     true,
		Parts: []Part{
			{locate.UseURL, 0, []string{"event.url"}},
			{locate.UseMethod, 0, []string{"event.requestmethod", "event.reqmethod"}},
			{locate.UseTime, 0, []string{"event.datetime", "event.time"}},
			{locate.UseStatus, 0, []string{"event.status", "event.respcode"}},
			{locate.UseBytes, 0, []string{"event.responsesize", "event.respsize"}},
			{locate.UseClient, 0, []string{"event.ClientIP"}},
			{locate.UseAgent, 0, []string{"event.useragent"}},
			{locate.UseRequestID, 0, []string{"event.event_id", "event.recordid"}},
		},
	},
	{
		ID: "paloalto-url", About: "URL logs of Palo Alto Networks, by log forwarding in JSON", Doc: "https://docs.paloaltonetworks.com/cortex/cortex-data-lake/cortex-data-lake-getting-started/get-started-with-log-forwarding-app/forward-logs-to-an-https-server", // read 2026-11-29
		Note:      "The firewall writes URLs without a scheme.",
		Landmarks: [][]string{{"event.URL", "URL"}, {"event.LogType", "LogType"}, {"event.SourceAddress", "SourceAddress"}},
		whole:     true,
		Parts: []Part{
			{locate.UseURL, 0, []string{"event.URL", "URL"}},
			{locate.UseMethod, 0, []string{"event.HTTPMethod", "HTTPMethod"}},
			{locate.UseTime, 0, []string{"event.TimeGenerated", "TimeGenerated"}},
			{locate.UseClient, 0, []string{"event.SourceAddress", "SourceAddress"}},
		},
	},
	{
		ID: "modsecurity-json", About: "audit logs of ModSecurity 3 and Coraza in JSON", Doc: "https://github.com/owasp-modsecurity/ModSecurity/wiki/Reference-Manual-(v3.x)", // read 2026-11-29
		Note:      "ModSecurity writes a header as a text, Coraza as an array. `time_stamp` of ModSecurity is not read as the time.",
		Landmarks: [][]string{{"transaction.request.uri"}, {"transaction.client_ip"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"transaction.request.uri"}},
			{locate.UseHost, 0, []string{"transaction.request.headers.Host", "transaction.request.headers.host", "transaction.request.headers.Host[0]", "transaction.request.headers.host[0]", "transaction.request.hostname"}},
			{locate.UseMethod, 0, []string{"transaction.request.method"}},
			{locate.UseReferer, 0, []string{"transaction.request.headers.Referer", "transaction.request.headers.referer", "transaction.request.headers.Referer[0]", "transaction.request.headers.referer[0]"}},
			{locate.UseTime, 0, []string{"transaction.unix_timestamp"}},
			{locate.UseStatus, 0, []string{"transaction.response.http_code", "transaction.response.status"}},
			{locate.UseClient, 0, []string{"transaction.client_ip"}},
			{locate.UseAgent, 0, []string{"transaction.request.headers.User-Agent", "transaction.request.headers.user-agent", "transaction.request.headers.User-Agent[0]", "transaction.request.headers.user-agent[0]"}},
			{locate.UseRequestID, 0, []string{"transaction.unique_id", "transaction.id"}},
		},
	},
	{
		ID: "har", About: "the entries of an HTTP archive (HAR 1.2)", Doc: "https://github.com/ahmadnassri/har-spec/blob/master/versions/1.2.md", // read 2026-11-29
		Note:      "URLs without a request, such as `data:` and `blob:`, are not read.",
		Landmarks: [][]string{{"request.url"}, {"request.method"}, {"startedDateTime"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"request.url"}},
			{locate.UseMethod, 0, []string{"request.method"}},
			{locate.UseReferer, 0, []string{"request.headers[=Referer]"}},
			{locate.UseTime, 0, []string{"startedDateTime"}},
			{locate.UseStatus, 0, []string{"response.status"}},
			{locate.UseBytes, 0, []string{"response.content.size"}},
			{locate.UseDuration, 3, []string{"time"}},
			{locate.UseAgent, 0, []string{"request.headers[=User-Agent]"}},
		},
	},
	{
		ID: "nginx-json", About: "nginx logs with `escape=json` and the usual names", Doc: "https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format",
		Note:      "The names of the fields are up to the `log_format`. These are the names of the usual layouts, and other servers that use them are read too. A `request` that is only a method, as in logs of Fastly, or only a request target is read as such. `uri` is percent-decoded by nginx, so it is the last choice. Only one of the fields with the URL is rewritten.",
		Landmarks: [][]string{{"request_uri", "request", "request_line", "http_request", "uri", "url", "path"}, {"status", "response_status", "response_code"}, {"remote_addr", "remote_ip", "client_ip", "clientip", "ip", "http_x_forwarded_for", "x_forwarded_for"}},
		Parts: []Part{
			{locate.UseTarget, 0, []string{"request_uri"}},
			{locate.UseRequest, 0, []string{"request", "request_line", "http_request"}},
			{locate.UsePath, 0, []string{"uri", "url", "path", "request_path"}},
			{locate.UseQuery, 0, []string{"args", "query_string", "query", "request_query"}},
			{locate.UseScheme, 0, []string{"scheme", "request_scheme", "http_x_forwarded_proto"}},
			{locate.UseTLS, 0, []string{"https", "is_tls"}},
			{locate.UseHost, 0, []string{"http_host", "host", "vhost", "domain", "server_name"}},
			{locate.UsePort, 0, []string{"server_port"}},
			{locate.UseMethod, 0, []string{"request_method", "method", "http_method", "httpMethod", "verb"}},
			{locate.UseReferer, 0, []string{"http_referer", "http_referrer", "referer", "referrer", "request_referer"}},
			{locate.UseTime, 0, []string{"time_iso8601", "msec", "time_local", "time", "timestamp", "@timestamp", "ts", "date", "time_start", "requestTime"}},
			{locate.UseStatus, 0, []string{"status", "response_status", "response_code"}},
			{locate.UseBytes, 0, []string{"body_bytes_sent", "bytes_sent", "bytes", "size", "length", "bytes_out", "written_bytes", "response_body_size", "responseLength"}},
			{locate.UseDuration, 0, []string{"request_time", "duration", "responsetime", "response_time"}},
			{locate.UseClient, 0, []string{"remote_addr", "remote_ip", "client_ip", "clientip", "ip"}},
			{locate.UseAgent, 0, []string{"http_user_agent", "user_agent", "agent", "useragent", "request_user_agent", "ua"}},
			{locate.UseRequestID, 0, []string{"request_id", "req_id", "http_x_request_id", "requestId"}},
		},
	},
}

// envoyPaths are the usual names of the request target in logs of Envoy, whose
// names are up to its configuration.
var envoyPaths = []string{
	"x_envoy_original_path", "x-envoy-original-path", "x_envoy_origin_path", "x-envoy-origin-path", "path", ":path",
}

// Part names the fields that may hold a part of the request.
type Part struct {
	Part   locate.Use
	Unit   int8 // of a duration; see locate.Attr.Unit and MsUnlessDecimal
	Fields []string
}
