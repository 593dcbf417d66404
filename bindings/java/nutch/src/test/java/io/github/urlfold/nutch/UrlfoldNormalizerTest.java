package io.github.urlfold.nutch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.MalformedURLException;
import org.apache.hadoop.conf.Configuration;
import org.apache.nutch.net.URLNormalizers;
import org.junit.jupiter.api.Test;

/** Loads the plugin from its folder, as Nutch does. */
class UrlfoldNormalizerTest {
  private static URLNormalizers normalizers(String profile) {
    Configuration conf = new Configuration(false);
    conf.setStrings("plugin.folders", System.getProperty("plugins").split(","));
    conf.set("plugin.includes", "nutch-extensionpoints|urlnormalizer-urlfold");
    conf.set("plugin.auto-activation", "true");
    if (profile != null) {
      conf.set("urlnormalizer.urlfold.profile", profile);
    }
    return new URLNormalizers(conf, URLNormalizers.SCOPE_DEFAULT);
  }

  @Test
  void normalForms() throws Exception {
    URLNormalizers n = normalizers(null);
    assertEquals("http://example.com/~a", n.normalize("HTTP://Example.com:80/b/../%7ea#top", URLNormalizers.SCOPE_DEFAULT));
    assertThrows(MalformedURLException.class, () -> n.normalize("http://[", URLNormalizers.SCOPE_DEFAULT));
  }

  @Test
  void profile() throws Exception {
    assertEquals("http://example.com/%7ea#top", normalizers("whatwg").normalize("http://example.com/%7ea#top", URLNormalizers.SCOPE_DEFAULT));
  }
}
