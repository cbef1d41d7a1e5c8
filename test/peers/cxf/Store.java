import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** PKCS#12 of PEM files: `Store OUT ALIAS KEY CERTIFICATE ... [-- OUT ...]`, with - for the key of a certificate that is only trusted. */
public final class Store {
  public static void main(String[] words) throws Exception {
    List<String> all = Arrays.asList(words);
    while (all.contains("--")) {
      int end = all.indexOf("--");
      write(all.subList(0, end));
      all = all.subList(end + 1, all.size());
    }
    write(all);
  }

  private static void write(List<String> words) throws Exception {
    char[] password = "test-only".toCharArray();
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, password);
    for (int at = 1; at < words.size(); at += 3) {
      Certificate certificate;
      try (FileInputStream file = new FileInputStream(words.get(at + 2))) {
        certificate = CertificateFactory.getInstance("X.509").generateCertificate(file);
      }
      if (words.get(at + 1).equals("-")) {
        store.setCertificateEntry(words.get(at), certificate);
        continue;
      }
      String pem = Files.readString(Path.of(words.get(at + 1))).replaceAll("-----[^-]+-----|\\s", "");
      PKCS8EncodedKeySpec key = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem));
      store.setKeyEntry(words.get(at), KeyFactory.getInstance("RSA").generatePrivate(key), password, new Certificate[] {certificate});
    }
    try (FileOutputStream out = new FileOutputStream(words.get(0))) {
      store.store(out, password);
    }
  }
}
