package io.github.urlfold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UrlfoldTest {
  private static List<String> urls(int n) {
    return IntStream.range(0, n).mapToObj(i -> "HTTP://H/%7e" + i).collect(Collectors.toList());
  }

  private static List<String> norms(int n) {
    return IntStream.range(0, n).mapToObj(i -> "http://h/~" + i).collect(Collectors.toList());
  }

  @Test
  void values() {
    try (Urlfold urlfold = new Urlfold()) {
      List<String> urls = Arrays.asList("HTTP://H", null, "", "no url", "http://h/a\tb\n\r\\c", "http://é/😀", "http://h/\ud83d", "a:\\t\\");
      List<String> want = Arrays.asList("http://h/", null, null, null, "http://h/ab/c", "http://xn--9ca/%F0%9F%98%80", "http://h/%EF%BF%BD", "a:\\t\\");
      assertEquals(want, urlfold.normalize(urls));
      assertEquals(want, urls.stream().map(urlfold::normalize).collect(Collectors.toList()));
      assertEquals(List.of(), urlfold.normalize(List.of()));
      assertEquals(urlfold.key("http://h/"), urlfold.key("HTTP://H:80"));
      assertNotEquals(urlfold.key("http://h/"), urlfold.key("http://g/"));
      assertNull(urlfold.key("no url"));
    }
  }

  @Test
  void manyBlocks() {
    try (Urlfold urlfold = new Urlfold()) {
      assertEquals(norms(50_000), urlfold.normalize(urls(50_000)));
      String big = "http://h/" + "a".repeat(5 << 20);
      assertEquals(Arrays.asList("http://h/", null, "http://h/"), urlfold.normalize(List.of("HTTP://H", big, "HTTP://H")));
    }
  }

  @Test
  void usage() {
    try (Urlfold urlfold = new Urlfold("--profile", "no-such-profile")) {
      Exception e = assertThrows(IllegalArgumentException.class, () -> urlfold.normalize("http://h/"));
      assertTrue(e.getMessage().contains("no-such-profile"), e.getMessage());
    }
  }

  @Test
  void noProgram() {
    System.setProperty("urlfold.program", "/bin/false");
    try (Urlfold urlfold = new Urlfold()) {
      Exception e = assertThrows(UrlfoldException.class, () -> urlfold.normalize("http://h/"));
      assertTrue(e.getMessage().contains("3 times"), e.getMessage());
    } finally {
      System.clearProperty("urlfold.program");
    }
  }

  @Test
  void threads() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try (Urlfold urlfold = new Urlfold()) {
      List<Future<List<String>>> all = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        int n = i;
        all.add(pool.submit(() -> urlfold.normalize(urls(n))));
      }
      for (int i = 0; i < all.size(); i++) {
        assertEquals(norms(i), all.get(i).get());
      }
    } finally {
      pool.shutdown();
    }
  }

  /** No row is lost or doubled if the program is killed while it answers. */
  @Test
  void killed() throws Exception {
    int kills = Integer.parseInt(System.getenv().getOrDefault("KILLS", "50")), hit = 0;
    Random chance = new Random(1);
    Coprocess process = new Coprocess("norm");
    StringBuilder rows = new StringBuilder();
    urls(20_000).forEach(url -> Rows.append(rows, url));
    List<String> want = norms(20_000);
    for (int i = 0; i < kills; i++) {
      process.ask("HTTP://H\n", 1);
      Process victim = process.process();
      int wait = chance.nextInt(20);
      Thread killer = new Thread(() -> {
        try {
          Thread.sleep(wait);
        } catch (InterruptedException e) {
          return;
        }
        victim.destroyForcibly();
      });
      killer.start();
      assertEquals(want, process.ask(rows.toString(), 20_000));
      killer.join();
      hit += process.process() == victim ? 0 : 1;
    }
    process.close();
    System.out.println(kills + " kills, " + hit + " while the program was asked");
    assertTrue(hit > 0);
  }

  /** The client gives what the program gives for 100,000 URLs of the corpora. */
  @Test
  void corpora() throws Exception {
    Path folder = Path.of(System.getenv().getOrDefault("URLFOLD_CORPORA", "none"), "urls");
    assumeTrue(Files.exists(folder.resolve("kasztp.txt")), "needs the folder of the corpora in URLFOLD_CORPORA");
    List<String> urls = new ArrayList<>();
    for (String name : List.of("kasztp.txt", "blns.txt", "isaacs_files.txt", "opendns-top-domains.txt")) {
      urls.addAll(Files.readAllLines(folder.resolve(name)));
    }
    Pattern ref = Pattern.compile("\"ref\": \"([^\"\\\\]*)\"");
    Files.readAllLines(folder.resolve("archiveorg2008_refs.jsonl")).forEach(line -> ref.matcher(line).results().forEach(m -> urls.add(m.group(1))));
    assertTrue(urls.size() > 100_000, urls.size() + " URLs");
    Path file = Files.createTempFile("urlfold", ".txt");
    try (Urlfold urlfold = new Urlfold()) {
      Files.write(file, urls);
      String program = System.getenv().getOrDefault("URLFOLD", "urlfold");
      Process process = new ProcessBuilder(program, "--lock-step", "-f", "lines", "-r", "urls").redirectInput(file.toFile()).start();
      String[] want = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\n", -1);
      assertEquals(urls.size() + 1, want.length);
      List<String> got = urlfold.normalize(urls);
      for (int i = 0; i < urls.size(); i++) {
        assertEquals(want[i], got.get(i) == null ? "" : got.get(i), urls.get(i));
      }
      long start = System.nanoTime();
      urlfold.normalize(urls);
      long batch = System.nanoTime();
      urls.subList(0, 5000).forEach(urlfold::normalize);
      long end = System.nanoTime();
      System.out.printf("%d URLs: %d ns a URL in a list, %d ns in a call%n", urls.size(), (batch - start) / urls.size(), (end - batch) / 5000);
    } finally {
      Files.delete(file);
    }
  }
}
