package io.github.urlfold.stormcrawler;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.urlfold.Urlfold;
import java.net.URL;
import java.util.Map;
import org.apache.stormcrawler.Metadata;
import org.apache.stormcrawler.filtering.URLFilter;

/**
 * A URL filter of StormCrawler whose results are the normal forms of urlfold. An example that no
 * test compiles, because the jars of StormCrawler were not available. In urlfilters.json:
 *
 * <pre>
 * {"class": "io.github.urlfold.stormcrawler.UrlfoldFilter", "name": "urlfold", "params": {"profile": "crawler"}}
 * </pre>
 */
public class UrlfoldFilter extends URLFilter {
  private Urlfold urlfold;

  @Override
  public void configure(Map<String, Object> conf, JsonNode params) {
    urlfold = new Urlfold("--profile", params.path("profile").asText("crawler"));
  }

  @Override
  public String filter(URL source, Metadata metadata, String url) {
    return urlfold.normalize(url); // null, which removes the URL, if it cannot be parsed
  }
}
