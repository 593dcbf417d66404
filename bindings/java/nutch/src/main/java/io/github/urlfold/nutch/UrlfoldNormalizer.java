package io.github.urlfold.nutch;

import io.github.urlfold.Urlfold;
import java.net.MalformedURLException;
import org.apache.hadoop.conf.Configuration;
import org.apache.nutch.net.URLNormalizer;

/**
 * A normalizer of Nutch whose results are the normal forms of urlfold.
 *
 * <p>The property {@code urlnormalizer.urlfold.profile} is the profile, {@code crawler} by default.
 * A URL that cannot be parsed is an exception, with which Nutch drops the URL.
 */
public final class UrlfoldNormalizer implements URLNormalizer {
  private Configuration conf;
  private Urlfold urlfold;

  @Override
  public String normalize(String url, String scope) throws MalformedURLException {
    String norm = urlfold.normalize(url);
    if (norm == null) {
      throw new MalformedURLException("urlfold cannot parse the URL");
    }
    return norm;
  }

  @Override
  public void setConf(Configuration conf) {
    this.conf = conf;
    if (urlfold != null) {
      urlfold.close();
    }
    urlfold = new Urlfold("--profile", conf.get("urlnormalizer.urlfold.profile", "crawler"));
  }

  @Override
  public Configuration getConf() {
    return conf;
  }
}
